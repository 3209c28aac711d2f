//! The command line: every command, flag and default, in clap's words.

mod accounts;
mod books;
mod operator;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

pub(crate) use accounts::{Accounts, Currency};
pub(crate) use books::{
    Backup, EntryName, Export, ExportFormat, Import, Ledger, Migrate, Payments, Restore,
};
pub(crate) use operator::{OperatorCommand, OperatorKeys};

use crate::{engine, web};

/// As many characters as the API allows.
const DESCRIPTION_CHARS_MAX: usize = 64;

/// Turns models into a paid API.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: ServiceLocation,
    /// Without one, the next step is shown.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 service unreachable.";

/// Which service is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServiceLocation {
    /// The configuration file; otherwise TOLLGATE_CONFIG, otherwise ./tollgate.toml if it exists.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where the database is; otherwise TOLLGATE_DATA_DIR, otherwise the user's data directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs the service.
    Serve(Serve),
    /// Writes a commented tollgate.toml, with the engines that are on this machine.
    Init(Init),
    /// Turns the configuration of another gateway into a tollgate.toml.
    #[command(subcommand)]
    Convert(Convert),
    /// Runs a service with invented accounts and usage, in a directory of its own.
    Demo(Serve),
    /// Makes, lists and revokes API keys.
    #[command(subcommand)]
    Keys(Keys),
    /// Makes the operator's own credentials: sign-in links and keys.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Makes accounts and gives them credit.
    #[command(subcommand)]
    Accounts(Accounts),
    /// Imports, exports and lists characters.
    #[command(subcommand)]
    Characters(Characters),
    /// Asks a model something; without a text, holds a conversation.
    Chat(Chat),
    /// Says a text aloud, into a file.
    Speak(Speak),
    /// Makes a picture.
    Image(Image),
    /// Writes down what is said in a file.
    Transcribe(Transcribe),
    /// Shows and reloads the catalogue, and fetches and tries models.
    #[command(subcommand)]
    Models(Models),
    /// Lists, shows and cancels queued music and videos.
    #[command(subcommand)]
    Jobs(Jobs),
    /// Checks and exports the journal of all money, and gives charges back.
    #[command(subcommand)]
    Ledger(Ledger),
    /// Shows what wallets have paid, and sees to what is stuck.
    #[command(subcommand)]
    Payments(Payments),
    /// Writes all that the service keeps to one file, while it works.
    Backup(Backup),
    /// Puts a backup in place of the database of a stopped service, after verifying it.
    Restore(Restore),
    /// Writes all that a stopped service keeps, for another kind of database.
    Export(Export),
    /// Fills an empty database with what `export` wrote.
    Import(Import),
    /// Brings the tables of the database up to date, and shows how they stand.
    Migrate(Migrate),
    /// Replaces secrets that the installation made for itself.
    #[command(subcommand)]
    Secrets(Secrets),
    /// Shows and checks the configuration.
    #[command(subcommand)]
    Config(Config),
    /// Checks everything the configuration names and says how to fix it.
    Doctor(Listing),
    /// Runs models on this machine. `serve` starts it; it ends when its standard input does.
    Engine(engine::Options),
    /// Opens what callers send, locked in; `serve` starts it and speaks to it over its pipes.
    #[command(hide = true)]
    Reader,
    /// Keeps a browser for pages that scripts build; `serve` starts it and speaks to it over its
    /// pipes.
    #[command(hide = true)]
    Browser(web::KeptBrowser),
    /// Prints the OpenAPI document.
    Openapi,
    /// Prints the manual page.
    Man,
    /// Prints a completion script for a shell.
    Completions { shell: Shell },
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where the API answers, such as 127.0.0.1:8080.
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// Where health and metrics answer, such as 127.0.0.1:8081.
    #[arg(long, value_name = "ADDR")]
    pub(crate) admin_listen: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Overwrites a file that is already there.
    #[arg(long)]
    pub(crate) force: bool,
    /// Does not look for engines.
    #[arg(long)]
    pub(crate) no_look: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Convert {
    /// A LiteLLM config.yaml; what cannot be carried over is said on standard error.
    Litellm(Litellm),
}

#[derive(Debug, Args)]
pub(crate) struct Litellm {
    pub(crate) file: PathBuf,
    /// Sells models whose price is not known at 0, instead of failing.
    #[arg(long)]
    pub(crate) free: bool,
}

/// How a listing is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Listing {
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Secrets {
    /// Makes a new one, for the next start.
    Rotate { name: SecretName },
    /// Gives up keys that were not used since the pepper was rotated.
    ForgetPepper,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SecretName {
    /// Under which the secrets of API keys are stored.
    Pepper,
    /// Under which tokens for wallets to sign are made.
    Tokens,
    /// Under which links to media are signed.
    Links,
    /// Under which the console's sessions are sealed.
    Console,
    /// By which nodes know each other.
    Nodes,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Lists jobs, the newest first.
    List {
        /// Only those of this account.
        #[arg(long)]
        account: Option<String>,
        /// Those that have ended too.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        listing: Listing,
    },
    /// Shows one job.
    Show {
        /// The id that `jobs list` shows, which callers know as `queue_id`.
        id: Uuid,
        #[command(flatten)]
        listing: Listing,
    },
    /// Ends a job and gives the money back, as soon as its provider can stop.
    Cancel {
        /// The id that `jobs list` shows.
        id: Uuid,
        #[command(flatten)]
        listing: Listing,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Makes a key and prints its secret, once.
    Create(CreateKey),
    /// Lists the keys that were not revoked.
    List {
        /// Only those of this account.
        #[arg(long)]
        account: Option<String>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Revokes a key, or all of them, at once and for good.
    Revoke {
        /// The id that `keys list` shows.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<Uuid>,
        /// Every key that there is, or that the account has.
        #[arg(long)]
        all: bool,
        /// Only those of this account.
        #[arg(long, requires = "all")]
        account: Option<String>,
        #[command(flatten)]
        listing: Listing,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateKey {
    /// What the key may do: call models, or also manage the account.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: KeyType,
    #[arg(long, default_value = "default")]
    pub(crate) account: String,
    /// What the key is for, at most 64 characters.
    #[arg(long, default_value = "", value_parser = description)]
    pub(crate) description: String,
    /// The most it may spend in a period, in USD.
    #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
    pub(crate) limit_usd: Option<Nano>,
    /// The most it may spend in a period, in DIEM.
    #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
    pub(crate) limit_diem: Option<Nano>,
    /// How long a limit counts: a UTC day, a UTC month, or for ever.
    #[arg(long, default_value = "epoch")]
    pub(crate) period: Period,
    /// When it stops working: 2027-01-31 or 2027-01-31T12:00:00Z.
    #[arg(long, value_name = "DATE", value_parser = moment)]
    pub(crate) expires: Option<Timestamp>,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum KeyType {
    Inference,
    Admin,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Period {
    Epoch,
    Month,
    Lifetime,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// Lists the catalogue.
    List(Listing),
    /// Makes the running service read its catalogue again.
    Reload(Listing),
    /// Fetches built-in models; without an id, the default ones.
    Pull {
        /// As `models list` shows them.
        ids: Vec<String>,
    },
    /// Has the running service use a model once.
    Test {
        id: String,
        #[command(flatten)]
        listing: Listing,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Characters {
    /// Adds characters from cards of version 1, 2 or 3: JSON, PNG or charx.
    Import {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Prints a character as a V2 card.
    Export {
        /// As `characters list` shows it.
        slug: String,
    },
    /// Lists all characters.
    List(Listing),
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// What to say.
    pub(crate) text: Option<String>,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// Stands before the conversation.
    #[arg(long)]
    pub(crate) system: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Speak {
    /// What to say.
    pub(crate) text: String,
    /// Where the sound goes; its ending names the format: mp3, opus, aac, flac, wav or pcm.
    #[arg(long, short, value_name = "FILE", default_value = "speech.mp3")]
    pub(crate) output: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// One of the model's voices; otherwise its usual one.
    #[arg(long)]
    pub(crate) voice: Option<String>,
    /// From 0.25 to 4.
    #[arg(long)]
    pub(crate) speed: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct Image {
    /// What to show.
    pub(crate) prompt: String,
    /// Where the picture goes; its ending names the format: webp, png or jpg.
    #[arg(long, short, value_name = "FILE", default_value = "image.webp")]
    pub(crate) output: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// What not to show.
    #[arg(long)]
    pub(crate) negative: Option<String>,
    /// One of the names that GET /image/styles lists.
    #[arg(long)]
    pub(crate) style: Option<String>,
    /// In pixels, for models that are sized by them.
    #[arg(long)]
    pub(crate) width: Option<u32>,
    #[arg(long)]
    pub(crate) height: Option<u32>,
    /// Such as 16:9, for models that list ratios.
    #[arg(long)]
    pub(crate) aspect_ratio: Option<String>,
    #[arg(long)]
    pub(crate) steps: Option<u32>,
    /// The same seed makes the same picture.
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) seed: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct Transcribe {
    /// A sound file.
    pub(crate) file: PathBuf,
    #[arg(long, default_value = "default")]
    pub(crate) model: String,
    /// What is spoken, such as en; otherwise the model finds out.
    #[arg(long)]
    pub(crate) language: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Prints every setting in force. Secrets are not shown.
    Show {
        /// Also says where each value comes from.
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        listing: Listing,
    },
    /// Reports every mistake in the configuration with its place.
    Check,
    /// Prints the reference of every key, in Markdown.
    Reference,
}

pub(crate) fn description(text: &str) -> Result<String, String> {
    if DESCRIPTION_CHARS_MAX < text.chars().count() {
        return Err(format!("write at most {DESCRIPTION_CHARS_MAX} characters"));
    }
    Ok(text.to_owned())
}

pub(crate) fn moment(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("write a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
}
