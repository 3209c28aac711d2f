//! The command line: all commands, flags and defaults, declared with clap.

mod accounts;
mod agents;
mod ledger_args;
mod operator;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

pub(crate) use accounts::{AccountsCommand, CurrencyArg};
pub(crate) use agents::AgentsArgs;
pub(crate) use ledger_args::{
    BackupArgs, ExportArgs, ExportFormat, ImportArgs, LedgerCommand, MigrateArgs, PaymentsCommand,
    RestoreArgs, TransferIdArg,
};
pub(crate) use operator::{OperatorCommand, OperatorKeysCommand};

use crate::{engine, web};

/// The maximum length in the API.
const DESCRIPTION_CHARS_MAX: usize = 64;

/// Turns models into a paid API.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    pub(crate) place: ServiceLocation,
    /// Without a command, the status and the next steps are shown.
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 service unreachable.";

/// The service that a command applies to.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceLocation {
    /// Configuration file. Default: TOLLGATE_CONFIG, or else ./tollgate.toml if it exists.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Data directory with the database. Default: TOLLGATE_DATA_DIR, or else the user's data
    /// directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Runs the service.
    Serve(ServeArgs),
    /// Writes a commented tollgate.toml with the engines found on this machine.
    Init(InitArgs),
    /// Converts the configuration of another gateway to a tollgate.toml.
    #[command(subcommand)]
    Convert(ConvertCommand),
    /// Runs a demo service with sample accounts and usage, in its own directory.
    Demo(ServeArgs),
    /// Creates, lists and revokes API keys.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Creates the operator's credentials: sign-in links and keys.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Manages accounts: creates them, changes credit and tiers, links wallets, freezes.
    #[command(subcommand)]
    Accounts(AccountsCommand),
    /// Prints how to set up a coding agent, such as Claude Code or Codex, for this service.
    Agents(AgentsArgs),
    /// Imports, exports and lists characters.
    #[command(subcommand)]
    Characters(CharactersCommand),
    /// Sends a message to a model. Without a text, starts a conversation.
    Chat(ChatArgs),
    /// Converts text to speech in a file.
    Speak(SpeakArgs),
    /// Generates an image.
    Image(ImageArgs),
    /// Transcribes an audio file.
    Transcribe(TranscribeArgs),
    /// Lists and reloads the catalogue, downloads and tests models.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Lists, shows and cancels queued music and video jobs.
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// Verifies and exports the journal, and refunds charges.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Lists wallet payments and resolves those that are stuck.
    #[command(subcommand)]
    Payments(PaymentsCommand),
    /// Writes a backup of the database to a file. The service may be running.
    Backup(BackupArgs),
    /// Verifies a backup and restores it as the database of a stopped service.
    Restore(RestoreArgs),
    /// Exports all data of a stopped service, for import into another kind of database.
    Export(ExportArgs),
    /// Imports an export into an empty database.
    Import(ImportArgs),
    /// Migrates the database schema, and shows its version.
    Migrate(MigrateArgs),
    /// Rotates secrets that the installation generated.
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Shows and checks the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Checks everything that the configuration names, and says how to fix problems.
    Doctor(OutputOptions),
    /// Runs models on this machine. Started by `serve`; exits when its standard input is closed.
    Engine(engine::EngineArgs),
    /// Parses untrusted files in a sandbox. Started by `serve`, and controlled over pipes.
    #[command(hide = true)]
    Reader,
    /// Runs a browser for pages that need scripts. Started by `serve`, and controlled over pipes.
    #[command(hide = true)]
    Browser(web::BrowserArgs),
    /// Prints the OpenAPI document.
    Openapi,
    /// Prints the manual page.
    Man,
    /// Prints a shell completion script.
    Completions { shell: Shell },
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen address of the API, such as 127.0.0.1:8080.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Listen address of health and metrics, such as 127.0.0.1:8081.
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin_listen: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Overwrites an existing file.
    #[arg(long)]
    pub(crate) force: bool,
    /// Skips the search for engines.
    #[arg(long)]
    pub(crate) no_look: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConvertCommand {
    /// Converts a LiteLLM config.yaml. Settings without a counterpart are listed on standard error.
    Litellm(LitellmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LitellmArgs {
    /// The config.yaml.
    pub(crate) file: PathBuf,
    /// Sells models without a known price at 0 instead of failing.
    #[arg(long)]
    pub(crate) free: bool,
}

/// The output format of a command.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OutputOptions {
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Generates a new secret, in use after the next start.
    Rotate { name: SecretName },
    /// Invalidates keys that were not used since the pepper was rotated.
    ForgetPepper,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SecretName {
    /// Pepper of the stored hashes of API keys.
    Pepper,
    /// Signing key of the tokens that wallets sign.
    Tokens,
    /// Signing key of media links.
    Links,
    /// Key of the console's session cookies.
    Console,
    /// Shared secret of the cluster's nodes.
    Nodes,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsCommand {
    /// Lists jobs, newest first.
    List {
        /// Only jobs of this account.
        #[arg(long)]
        account: Option<String>,
        /// Includes jobs that have ended.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Shows one job.
    Show {
        /// The id from `jobs list`; callers know it as `queue_id`.
        id: Uuid,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Cancels a job and refunds it as soon as its provider has stopped.
    Cancel {
        /// The id from `jobs list`.
        id: Uuid,
        #[command(flatten)]
        listing: OutputOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Creates a key and prints its secret, which is shown only once.
    Create(CreateKeyArgs),
    /// Lists the keys that are not revoked.
    List {
        /// Only keys of this account.
        #[arg(long)]
        account: Option<String>,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Revokes a key, or all keys, immediately and permanently.
    Revoke {
        /// The id from `keys list`.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<Uuid>,
        /// Revokes all keys, or all keys of the account.
        #[arg(long)]
        all: bool,
        /// Only keys of this account.
        #[arg(long, requires = "all")]
        account: Option<String>,
        #[command(flatten)]
        listing: OutputOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateKeyArgs {
    /// The permissions of the key: call models, or also manage the account.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: KeyType,
    /// The account of the key.
    #[arg(long, default_value = "default")]
    pub(crate) account: String,
    /// A description of the key, of at most 64 characters.
    #[arg(long, default_value = "", value_parser = parse_description)]
    pub(crate) description: String,
    /// Spending limit per period, in USD.
    #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
    pub(crate) limit_usd: Option<Nano>,
    /// Spending limit per period, in DIEM.
    #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
    pub(crate) limit_diem: Option<Nano>,
    /// The period of the limit: a UTC day, a UTC month, or the key's lifetime.
    #[arg(long, default_value = "epoch")]
    pub(crate) period: LimitPeriodArg,
    /// Expiry time: 2027-01-31 or 2027-01-31T12:00:00Z.
    #[arg(long, value_name = "DATE", value_parser = parse_timestamp)]
    pub(crate) expires: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) listing: OutputOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KeyType {
    /// Calls models.
    Inference,
    /// Also manages keys and reads billing data of its account.
    Admin,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LimitPeriodArg {
    /// A UTC day.
    Epoch,
    /// A UTC month.
    Month,
    /// The lifetime of the key; the count is never reset.
    Lifetime,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Lists the models of the catalogue and the built-in models, with the state of their files.
    List(OutputOptions),
    /// Reloads the catalogue of the running service.
    Reload(OutputOptions),
    /// Downloads built-in models. Without ids, downloads the default models.
    Pull {
        /// Ids from `models list`.
        ids: Vec<String>,
    },
    /// Sends one small request to a model through the running service.
    Test {
        /// The id from `models list`.
        id: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CharactersCommand {
    /// Imports character cards of version 1, 2 or 3: JSON, PNG or charx.
    Import {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Prints a character as a V2 card.
    Export {
        /// The slug from `characters list`.
        slug: String,
    },
    /// Lists all characters.
    List(OutputOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The message.
    pub(crate) text: Option<String>,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// The system prompt.
    #[arg(long)]
    pub(crate) system: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SpeakArgs {
    /// The text to speak.
    pub(crate) text: String,
    /// Output file. Its extension selects the format: mp3, opus, aac, flac, wav or pcm.
    #[arg(long, short, value_name = "FILE", default_value = "speech.mp3")]
    pub(crate) output: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// One of the model's voices. Default: the model's default voice.
    #[arg(long)]
    pub(crate) voice: Option<String>,
    /// Speed, from 0.25 to 4.
    #[arg(long)]
    pub(crate) speed: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct ImageArgs {
    /// A description of the image.
    pub(crate) prompt: String,
    /// Output file. Its extension selects the format: webp, png or jpg.
    #[arg(long, short, value_name = "FILE", default_value = "image.webp")]
    pub(crate) output: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// A description of content to avoid.
    #[arg(long)]
    pub(crate) negative: Option<String>,
    /// The name of a style from GET /image/styles.
    #[arg(long)]
    pub(crate) style: Option<String>,
    /// Width in pixels, for models that are sized by pixels.
    #[arg(long)]
    pub(crate) width: Option<u32>,
    /// Height in pixels, for models that are sized by pixels.
    #[arg(long)]
    pub(crate) height: Option<u32>,
    /// Aspect ratio such as 16:9, for models that list ratios.
    #[arg(long)]
    pub(crate) aspect_ratio: Option<String>,
    /// The number of inference steps. Default: the model's default.
    #[arg(long)]
    pub(crate) steps: Option<u32>,
    /// Sampling seed; the same seed generates the same image.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) seed: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct TranscribeArgs {
    /// The audio file.
    pub(crate) file: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// The spoken language, such as en. Default: detected by the model.
    #[arg(long)]
    pub(crate) language: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Prints all effective settings. Secrets are masked.
    Show {
        /// Also prints the origin of each value.
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Reports all errors in the configuration, with their lines.
    Check,
    /// Prints the reference of all keys in Markdown.
    Reference,
}

pub(crate) fn parse_description(text: &str) -> Result<String, String> {
    if DESCRIPTION_CHARS_MAX < text.chars().count() {
        return Err(format!("write at most {DESCRIPTION_CHARS_MAX} characters"));
    }
    Ok(text.to_owned())
}

pub(crate) fn parse_timestamp(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("write a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
}
