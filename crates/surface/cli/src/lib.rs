//! The whole program except the built-in engine: configuration, wiring and commands.

mod args;
mod bar;
mod command_environment;
mod commands;
mod database;
mod doctor;
pub mod engine;
mod failure;
mod gpu;
mod local;
mod mcp;
mod operator;
mod output;
mod payments;
mod randomness;
mod reader_process;
mod registries;
mod serve;
mod stakes;
mod stopwatch;
mod wallets;
mod web;
mod wiring;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::available_parallelism;

use allocator as _;
use clap::{CommandFactory, Parser};
use lanes::LanePool;
use tokio::runtime::{Builder, Runtime};

use crate::args::{CliCommand, CommandLine};
use crate::command_environment::CommandEnvironment;
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::operator::OperationClient;

/// Parses the command line and runs the command, with the engine that this program was built with.
pub fn run_cli(engine: BuiltInEngine) -> ExitCode {
    match run_command(CommandLine::parse(), engine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::print_failure(&failure);
            failure.exit_code()
        }
    }
}

fn run_command(cli: CommandLine, engine: BuiltInEngine) -> Result<(), CommandError> {
    // These sandboxed processes have no environment and need no configuration.
    match cli.command {
        Some(CliCommand::Reader) => return reader_process::run_reader(),
        Some(CliCommand::Browser(kept)) => return web::run_browser(kept),
        _ => {}
    }
    let surroundings = CommandEnvironment::detect(&cli.place)?;
    let Some(command) = cli.command else {
        let greeting = commands::next_steps::print_next_steps(&surroundings, engine);
        return build_runtime(Builder::new_current_thread())?.block_on(greeting);
    };
    match command {
        CliCommand::Engine(options) => engine.run(options),
        CliCommand::Serve(serve) => run_service(&surroundings, serve, engine),
        CliCommand::Demo(serve) => {
            let prepared = commands::demo::prepare_demo(&surroundings);
            let prepared = build_runtime(Builder::new_current_thread())?.block_on(prepared)?;
            run_service(&prepared, commands::demo::with_free_ports(serve), engine)
        }
        CliCommand::Init(init) => {
            let written = commands::init::run_init_command(&surroundings, &init);
            build_runtime(Builder::new_current_thread())?.block_on(written)
        }
        CliCommand::Convert(args::ConvertCommand::Litellm(command)) => {
            commands::convert::run_convert_command(&command)
        }
        CliCommand::Man => print_manual(),
        CliCommand::Config(command) => {
            commands::config::run_config_command(&surroundings, &command)
        }
        CliCommand::Openapi => output::print_json(&api::build_openapi_document()),
        CliCommand::Completions { shell } => print_completions(shell),
        operated => build_runtime(Builder::new_current_thread())?.block_on(run_operation_command(
            &surroundings,
            operated,
            engine,
        )),
    }
}

/// Runs the service. Callers are served in lanes, one per core; the rest runs in this thread.
fn run_service(
    surroundings: &CommandEnvironment,
    serve: args::ServeArgs,
    engine: BuiltInEngine,
) -> Result<(), CommandError> {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    // Makes this process the reaper of orphaned descendants, so that leftover processes can be
    // recognised.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let lanes = LanePool::start(cores)
        .map_err(|error| CommandError::Failed(format!("cannot start the threads: {error}")))?;
    let service = serve::run_serve_command(surroundings, serve, engine, Arc::new(lanes));
    build_runtime(Builder::new_current_thread())?.block_on(service)
}

/// Runs the commands that inspect or change a service.
async fn run_operation_command(
    surroundings: &CommandEnvironment,
    command: CliCommand,
    engine: BuiltInEngine,
) -> Result<(), CommandError> {
    if let CliCommand::Doctor(listing) = command {
        return doctor::run_doctor_command(surroundings, listing, engine).await;
    }
    let mut operator = OperationClient::connect(surroundings, engine).await?;
    match command {
        CliCommand::Keys(command) => commands::keys::run_keys_command(&mut operator, command).await,
        CliCommand::Operator(command) => {
            commands::operator::run_operator_command(&mut operator, command).await
        }
        CliCommand::Accounts(command) => {
            commands::accounts::run_accounts_command(&mut operator, command).await
        }
        CliCommand::Agents(command) => {
            commands::agents::run_agents_command(&mut operator, command).await
        }
        CliCommand::Characters(command) => {
            commands::characters::run_characters_command(&mut operator, command).await
        }
        CliCommand::Models(command) => {
            commands::models::run_models_command(&mut operator, &command).await
        }
        CliCommand::Chat(chat) => commands::chat::run_chat_command(&mut operator, &chat).await,
        CliCommand::Image(image) => commands::image::run_image_command(&mut operator, &image).await,
        CliCommand::Speak(speak) => commands::speak::run_speak_command(&mut operator, &speak).await,
        CliCommand::Transcribe(transcribe) => {
            commands::transcribe::run_transcribe_command(&mut operator, &transcribe).await
        }
        CliCommand::Secrets(command) => {
            commands::secrets::run_secrets_command(&mut operator, command).await
        }
        CliCommand::Jobs(command) => commands::jobs::run_jobs_command(&mut operator, command).await,
        CliCommand::Ledger(command) => {
            commands::ledger::run_ledger_command(&mut operator, &command).await
        }
        CliCommand::Payments(command) => {
            commands::payments::run_payments_command(&mut operator, command).await
        }
        CliCommand::Backup(command) => commands::backup::back_up(&mut operator, &command).await,
        CliCommand::Restore(command) => commands::backup::restore_backup(&operator, &command).await,
        CliCommand::Export(command) => {
            commands::export_import::export_database(&operator, &command).await
        }
        CliCommand::Import(command) => {
            commands::export_import::import_database(&operator, &command).await
        }
        CliCommand::Migrate(command) => {
            commands::migrate::run_migrate_command(&operator, &command).await
        }
        CliCommand::Serve(_)
        | CliCommand::Init(_)
        | CliCommand::Convert(_)
        | CliCommand::Demo(_)
        | CliCommand::Man
        | CliCommand::Config(_)
        | CliCommand::Doctor(_)
        | CliCommand::Openapi
        | CliCommand::Engine(_)
        | CliCommand::Reader
        | CliCommand::Browser(_)
        | CliCommand::Completions { .. } => unreachable!("these do without an operator"),
    }
}

fn print_manual() -> Result<(), CommandError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(CommandLine::command())
        .render(&mut page)
        .map_err(|error| CommandError::Failed(format!("cannot write the page: {error}")))?;
    output::print_text(&String::from_utf8_lossy(&page))
}

fn print_completions(shell: clap_complete::Shell) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "tollgate", &mut script);
    output::print_text(&String::from_utf8_lossy(&script))
}

fn build_runtime(mut builder: Builder) -> Result<Runtime, CommandError> {
    let built = builder.enable_all().build();
    built.map_err(|error| CommandError::Failed(format!("cannot start the runtime: {error}")))
}
