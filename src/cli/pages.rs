//! Completion scripts and manual pages, made from the same description that parses the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use rehome::Error;

use super::failure::Failure;
use super::{Cli, message};

/// Arguments of `rehome completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rehome completions bash > /etc/bash_completion.d/rehome")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `rehome man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rehome man | man -l -\n  rehome man -o /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the page of every verb into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs `rehome completions`.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rehome", &mut script);
    message::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `rehome man`.
pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Failure> {
    match &args.output {
        Some(folder) => {
            clap_mangen::generate_to(Cli::command(), folder).map_err(|error| Error::io("write", folder, error))?;
        }
        None => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.map_err(|error| Error::io("write", "standard output", error))?;
            message::print(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
