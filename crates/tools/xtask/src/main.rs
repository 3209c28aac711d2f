//! Repository tasks: `cargo xtask tidy`, `cargo xtask openapi` and `cargo xtask words`.

mod command;
mod dependencies;
mod layers;
mod licences;
mod links;
mod lockfile;
mod machine_paths;
mod openapi;
mod sources;
mod tidy;
mod tree;
mod unsafe_code;
mod words;

use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  tidy     check layering, file shape, dependencies and links; list every problem
  openapi  rewrite openapi.json from the running code
  words    print figures about names and comments";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let outcome = match task.as_deref() {
        Some("tidy") => tidy::run_checks(),
        Some("openapi") => openapi::rewrite_document(),
        Some("words") => words::build_report(),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(summary) => print_text(&mut io::stdout(), &summary, ExitCode::SUCCESS),
        Err(message) => print_text(&mut io::stderr(), &message, ExitCode::FAILURE),
    }
}

/// Writing fails only for a closed pipe, which cannot be reported.
fn print_text(stream: &mut dyn Write, text: &str, code: ExitCode) -> ExitCode {
    match writeln!(stream, "{text}") {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests;
