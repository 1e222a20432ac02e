//! The command-line tool: see `rehome --help`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
