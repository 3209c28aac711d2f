//! The command line: every command, flag and default, in clap's words.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

use crate::engine;

/// As many characters as the API allows.
const DESCRIPTION_CHARS_MAX: usize = 64;

/// Turns models into a paid API.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 service unreachable.";

/// Which service is meant.
#[derive(Debug, Clone, Args)]
pub(crate) struct Place {
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
    /// Writes a commented tollgate.toml.
    Init(Init),
    /// Makes, lists and revokes API keys.
    #[command(subcommand)]
    Keys(Keys),
    /// Makes accounts and gives them credit.
    #[command(subcommand)]
    Accounts(Accounts),
    /// Asks a model something; without a text, holds a conversation.
    Chat(Chat),
    /// Says a text aloud, into a file.
    Speak(Speak),
    /// Writes down what is said in a file.
    Transcribe(Transcribe),
    /// Shows and reloads the catalogue, and fetches and tries models.
    #[command(subcommand)]
    Models(Models),
    /// Checks and exports the journal of all money.
    #[command(subcommand)]
    Ledger(Ledger),
    /// Shows and checks the configuration.
    #[command(subcommand)]
    Config(Config),
    /// Checks everything the configuration names and says how to fix it.
    Doctor(Listing),
    /// Runs models on this machine. `serve` starts it; it ends when its standard input does.
    Engine(engine::Options),
    /// Prints the OpenAPI document.
    Openapi,
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
}

/// How a listing is printed.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Listing {
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Revokes a key, at once and for good.
    Revoke {
        /// The id that `keys list` shows.
        id: Uuid,
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
pub(crate) enum Accounts {
    /// Makes an account.
    Create {
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Gives an account credit. For diem and bundled the amount is what it gets each day or month
    /// from now on, and 0 ends it.
    Credit {
        name: String,
        /// A plain decimal, such as 10 or 0.50.
        #[arg(value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Nano,
        #[arg(long, default_value = "usd")]
        currency: Currency,
        #[command(flatten)]
        listing: Listing,
    },
    /// Puts an account under another set of rate limits: default, partner or staff.
    Tier {
        name: String,
        tier: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lets a wallet on Base or Solana spend the account's balance when it signs in.
    Link {
        name: String,
        /// 0x and 40 digits, or base58.
        wallet: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Shows an account with its balances.
    Show {
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lists all accounts.
    List(Listing),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Currency {
    Usd,
    Diem,
    Bundled,
    Vcu,
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
pub(crate) enum Ledger {
    /// Recomputes every balance from the journal; exit code 1 and the differences if one is wrong.
    Verify(Listing),
    /// Prints the journal, oldest first.
    Export {
        #[arg(long, default_value = "csv")]
        format: ExportFormat,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    /// One JSON object a line.
    Json,
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

fn description(text: &str) -> Result<String, String> {
    if DESCRIPTION_CHARS_MAX < text.chars().count() {
        return Err(format!("write at most {DESCRIPTION_CHARS_MAX} characters"));
    }
    Ok(text.to_owned())
}

fn moment(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("write a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
}
