//! Repository tasks: `cargo xtask tidy`, `cargo xtask openapi` and `cargo xtask words`.

mod command;
mod hosts;
mod layers;
mod licences;
mod links;
mod lockfile;
mod openapi;
mod reach;
mod sources;
mod tidy;
mod tree;
mod unsafety;
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
        Some("tidy") => tidy::run(),
        Some("openapi") => openapi::rewrite(),
        Some("words") => words::report(),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(summary) => say(&mut io::stdout(), &summary, ExitCode::SUCCESS),
        Err(message) => say(&mut io::stderr(), &message, ExitCode::FAILURE),
    }
}

/// Writing fails only for a closed pipe, which cannot be reported.
fn say(stream: &mut dyn Write, text: &str, code: ExitCode) -> ExitCode {
    match writeln!(stream, "{text}") {
        Ok(()) => code,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests;
