//! `--timings`: where the time went.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use rehome::engine::{Cost, StreamReport, process_time};

/// Prints time per stage and of the whole process, rows per second and peak memory to standard error. `decoding` and `elsewhere` are what reading
/// and writing cost on other threads while their own waited.
pub(crate) fn print(report: &StreamReport, decoding: Cost, elsewhere: Cost, wall: Duration) {
    let costs = report.costs;
    let mut read = costs.read;
    read.cpu += decoding.cpu;
    let mut write = costs.write;
    write.cpu += elsewhere.cpu;
    let stages = [("read", read), ("hash", costs.hash), ("place", costs.place), ("write", write)];
    let mut text = format!("{:<8}{:>10}{:>10}\n", "stage", "wall s", "cpu s");
    let mut sum = Duration::ZERO;
    for (name, cost) in stages {
        sum += cost.cpu;
        let _ = writeln!(text, "{name:<8}{:>10.3}{:>10.3}", cost.wall.as_secs_f64(), cost.cpu.as_secs_f64());
    }
    let rate = report.keys as f64 / wall.as_secs_f64().max(1e-9);
    let _ = writeln!(text, "{:<8}{:>10.3}{:>10.3}", "total", wall.as_secs_f64(), sum.as_secs_f64());
    if let Some(process) = process_time() {
        let _ = writeln!(text, "{:<8}{:>10}{:>10.3}", "process", "", process.as_secs_f64());
    }
    let _ = writeln!(text, "{} rows, {rate:.0} rows/s", report.keys);
    if let Some(peak) = peak_resident() {
        let _ = writeln!(text, "peak resident memory {peak} KiB");
    }
    // Nobody is left to tell if standard error is gone.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The most memory that this process ever had resident, in KiB, where the system tells.
fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
