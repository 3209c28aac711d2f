//! The whole program except the built-in engine: configuration, wiring and commands.

mod args;
mod bar;
mod commands;
mod database;
mod doctor;
pub mod engine;
mod failure;
mod gpu;
mod local;
mod operator;
mod output;
mod payments;
mod randomness;
mod reading;
mod registries;
mod serve;
mod stakes;
mod stopwatch;
mod surroundings;
mod wallets;
mod web;
mod wiring;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use allocator as _;
use clap::{CommandFactory, Parser};
use lanes::Lanes;
use tokio::runtime::{Builder, Runtime};

use crate::args::{Cli, Command};
use crate::engine::Engine;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::surroundings::Surroundings;

/// Parses the command line and runs the command, with the engine that this program was built with.
pub fn run(engine: Engine) -> ExitCode {
    match perform(Cli::parse(), engine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::print_failure(&failure);
            failure.exit_code()
        }
    }
}

fn perform(cli: Cli, engine: Engine) -> Result<(), Failure> {
    // These sandboxed processes have no environment and need no configuration.
    match cli.command {
        Some(Command::Reader) => return reading::run(),
        Some(Command::Browser(kept)) => return web::keep_browser(kept),
        _ => {}
    }
    let surroundings = Surroundings::look(&cli.place)?;
    let Some(command) = cli.command else {
        let greeting = commands::greet::run(&surroundings, engine);
        return runtime(Builder::new_current_thread())?.block_on(greeting);
    };
    match command {
        Command::Engine(options) => engine.run(options),
        Command::Serve(serve) => run_service(&surroundings, serve, engine),
        Command::Demo(serve) => {
            let prepared = commands::demo::prepare(&surroundings);
            let prepared = runtime(Builder::new_current_thread())?.block_on(prepared)?;
            run_service(&prepared, commands::demo::with_free_ports(serve), engine)
        }
        Command::Init(init) => {
            let written = commands::init::run(&surroundings, &init);
            runtime(Builder::new_current_thread())?.block_on(written)
        }
        Command::Convert(args::Convert::Litellm(command)) => commands::convert::run(&command),
        Command::Man => manual(),
        Command::Config(command) => commands::config::run(&surroundings, &command),
        Command::Openapi => output::print_json(&api::document()),
        Command::Completions { shell } => completions(shell),
        operated => runtime(Builder::new_current_thread())?.block_on(operate(
            &surroundings,
            operated,
            engine,
        )),
    }
}

/// Runs the service. Callers are served in lanes, one per core; the rest runs in this thread.
fn run_service(
    surroundings: &Surroundings,
    serve: args::Serve,
    engine: Engine,
) -> Result<(), Failure> {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    // Makes this process the reaper of orphaned descendants, so that leftover processes can be
    // recognised.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let lanes = Lanes::start(cores)
        .map_err(|error| Failure::Failed(format!("cannot start the threads: {error}")))?;
    let service = serve::run(surroundings, serve, engine, Arc::new(lanes));
    runtime(Builder::new_current_thread())?.block_on(service)
}

/// Runs the commands that inspect or change a service.
async fn operate(
    surroundings: &Surroundings,
    command: Command,
    engine: Engine,
) -> Result<(), Failure> {
    if let Command::Doctor(listing) = command {
        return doctor::run(surroundings, listing, engine).await;
    }
    let mut operator = Operator::connect(surroundings, engine).await?;
    match command {
        Command::Keys(command) => commands::keys::run(&mut operator, command).await,
        Command::Operator(command) => commands::operator::run(&mut operator, command).await,
        Command::Accounts(command) => commands::accounts::run(&mut operator, command).await,
        Command::Characters(command) => commands::characters::run(&mut operator, command).await,
        Command::Models(command) => commands::models::run(&mut operator, &command).await,
        Command::Chat(chat) => commands::chat::run(&mut operator, &chat).await,
        Command::Image(image) => commands::image::run(&mut operator, &image).await,
        Command::Speak(speak) => commands::speak::run(&mut operator, &speak).await,
        Command::Transcribe(transcribe) => {
            commands::transcribe::run(&mut operator, &transcribe).await
        }
        Command::Secrets(command) => commands::secrets::run(&mut operator, command).await,
        Command::Jobs(command) => commands::jobs::run(&mut operator, command).await,
        Command::Ledger(command) => commands::ledger::run(&mut operator, &command).await,
        Command::Payments(command) => commands::payments::run(&mut operator, command).await,
        Command::Backup(command) => commands::backup::back_up(&mut operator, &command).await,
        Command::Restore(command) => commands::backup::restore(&operator, &command).await,
        Command::Export(command) => commands::moving::export(&operator, &command).await,
        Command::Import(command) => commands::moving::import(&operator, &command).await,
        Command::Migrate(command) => commands::migrate::run(&operator, &command).await,
        Command::Serve(_)
        | Command::Init(_)
        | Command::Convert(_)
        | Command::Demo(_)
        | Command::Man
        | Command::Config(_)
        | Command::Doctor(_)
        | Command::Openapi
        | Command::Engine(_)
        | Command::Reader
        | Command::Browser(_)
        | Command::Completions { .. } => unreachable!("these do without an operator"),
    }
}

fn manual() -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|error| Failure::Failed(format!("cannot write the page: {error}")))?;
    output::print(&String::from_utf8_lossy(&page))
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tollgate", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

fn runtime(mut builder: Builder) -> Result<Runtime, Failure> {
    let built = builder.enable_all().build();
    built.map_err(|error| Failure::Failed(format!("cannot start the runtime: {error}")))
}
