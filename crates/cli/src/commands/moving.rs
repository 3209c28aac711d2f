//! `tollgate export` and `tollgate import`: move all data to another kind of database.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write, stderr, stdin, stdout};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use config::sections::store::StoreLocation;
use control::actor::Actor;
use ledger::verify;
use logging::WIPE;
use moment::{Clock, SystemClock};
use store::Store;
use store::audit::AuditEntry;
use store::export::{Progress, Reader, Writer};
use store::sqlite::restore::Staged;
use store::sqlite::{self, Options, Sqlite};
use store::write::{Group, Write as StoreWrite};

use crate::args;
use crate::database::connect_alone;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::output::print_note;

const STANDARD: &str = "-";
const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// The maximum number of differences listed for an inconsistent ledger.
const DIFFERENCES_TOLD: usize = 10;
const BUFFER_BYTES: usize = 1024 * 1024;

pub(crate) async fn export(operator: &Operator<'_>, command: &args::Export) -> Result<(), Failure> {
    refuse_if_running(operator, "what is charged after an export is not in it")?;
    let location = location(operator)?;
    if command.file == Path::new(STANDARD) {
        if stdout().is_terminal() {
            return Err(Failure::Usage(
                "an export holds secrets and is long; name a file, or a pipe".to_owned(),
            ));
        }
        let rows =
            write(operator, &location, BufWriter::with_capacity(BUFFER_BYTES, stdout())).await?;
        return say_exported(&format!("{rows} rows"));
    }
    let partial = Partial::new(&command.file)?;
    let file = BufWriter::with_capacity(BUFFER_BYTES, partial.create()?);
    let rows = write(operator, &location, file).await?;
    partial.finish()?;
    say_exported(&format!("{}: {rows} rows", command.file.display()))
}

async fn write(
    operator: &Operator<'_>,
    location: &StoreLocation,
    to: impl Write,
) -> Result<u64, Failure> {
    let mut tell = teller();
    let writer = Writer::begin(to, RELEASE, &mut tell)?;
    Ok(match location {
        StoreLocation::Sqlite(file) if !file.exists() => {
            return Err(Failure::Failed(format!("there is no database {}", file.display())));
        }
        StoreLocation::Sqlite(file) => {
            Sqlite::open(&Options::durable(file))?.export(writer).await?
        }
        StoreLocation::Postgres(url) => {
            let data_dir = &operator.surroundings.data_dir.path;
            let store = connect_alone(data_dir, url.expose()).await?;
            let rows = store.export(writer).await?;
            store.close().await;
            rows
        }
    })
}

/// Imports everything or nothing: after an error the database is as empty as before.
pub(crate) async fn import(operator: &Operator<'_>, command: &args::Import) -> Result<(), Failure> {
    refuse_if_running(operator, "an import needs the database to itself")?;
    let location = location(operator)?;
    let (file, is_standard) = (&command.file, command.file == Path::new(STANDARD));
    if !is_standard {
        // Reads the whole file first, so that a damaged file is reported as such before the
        // database is changed.
        let mut untold = |_| {};
        read_through(Reader::begin(open(file)?, &mut untold)?)?;
    }
    let mut tell = teller();
    let from: Box<dyn BufRead> =
        if is_standard { Box::new(BufReader::new(stdin())) } else { Box::new(open(file)?) };
    let reader = Reader::begin(from, &mut tell)?;
    let (rows, transfers) = match location {
        StoreLocation::Sqlite(database) => into_sqlite(&database, reader, file).await?,
        StoreLocation::Postgres(url) => {
            let data_dir = &operator.surroundings.data_dir.path;
            let store = connect_alone(data_dir, url.expose()).await?;
            let rows = store.import(reader).await?;
            let transfers = look_over(&store, file).await;
            store.close().await;
            (rows, transfers?)
        }
    };
    print_note(&format!("{rows} rows, {transfers} transfers: every balance is right"));
    Ok(())
}

async fn into_sqlite<R: BufRead>(
    database: &Path,
    reader: Reader<'_, R>,
    file: &Path,
) -> Result<(u64, u64), Failure> {
    let staged = Staged::empty(database)?;
    let rows = sqlite::import::import(reader, staged.path())?;
    let store = Sqlite::open(&Options::durable(staged.path()))?;
    let transfers = look_over(&store, file).await?;
    drop(store);
    staged.put_in_place(false, SystemClock.now())?;
    Ok((rows, transfers))
}

/// Verifies the ledger, and records the import in the audit log.
async fn look_over(store: &dyn Store, file: &Path) -> Result<u64, Failure> {
    let noted = AuditEntry {
        at: SystemClock.now(),
        actor: Actor::of_this_process().name().to_owned(),
        action: "import".to_owned(),
        subject: file.display().to_string(),
        detail: format!("by release {RELEASE}"),
    };
    store.commit(Group::of(StoreWrite::AddAudit(noted))).await?;
    let report = verify(store).await?;
    if report.is_clean() {
        return Ok(report.transfers);
    }
    let told: Vec<String> =
        report.violations.iter().take(DIFFERENCES_TOLD).map(ToString::to_string).collect();
    Err(Failure::Failed(format!(
        "everything was imported as it was exported, and its books are not right; `tollgate ledger \
         verify` tells of the same where it was exported:\n{}",
        told.join("\n")
    )))
}

fn refuse_if_running(operator: &Operator<'_>, why: &str) -> Result<(), Failure> {
    if !operator.is_running() {
        return Ok(());
    }
    Err(Failure::Failed(format!("a service runs on this directory; stop it first: {why}")))
}

fn location(operator: &Operator<'_>) -> Result<StoreLocation, Failure> {
    let ground = operator.surroundings.sources(Vec::new()).read_ground()?;
    Ok(match ground.store.location {
        StoreLocation::Sqlite(file) => {
            StoreLocation::Sqlite(operator.surroundings.data_dir.path.join(file))
        }
        postgres @ StoreLocation::Postgres(_) => postgres,
    })
}

fn open(file: &Path) -> Result<BufReader<File>, Failure> {
    let opened = File::open(file);
    let opened = opened
        .map_err(|error| Failure::Failed(format!("cannot open {}: {error}", file.display())))?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, opened))
}

fn read_through<R: BufRead>(mut reader: Reader<'_, R>) -> Result<(), Failure> {
    while reader.table()?.is_some() {
        while reader.row()?.is_some() {}
    }
    Ok(())
}

fn say_exported(what: &str) -> Result<(), Failure> {
    print_note(what);
    print_note(
        "music and videos are not in it: where [media] names a directory, copy that directory too. \
         Keep the file from others: it holds secrets",
    );
    Ok(())
}

/// Returns a callback that prints progress on standard error: one updated line on a terminal,
/// otherwise one line per table.
fn teller() -> impl FnMut(Progress) + Send {
    let is_terminal = stderr().is_terminal();
    move |Progress { table, rows, is_whole }| {
        let line = format!("{table}: {rows} rows");
        let _ = match (is_terminal, is_whole) {
            (true, false) => write!(stderr(), "{WIPE}{line}"),
            (true, true) => writeln!(stderr(), "{WIPE}{line}"),
            (false, true) => writeln!(stderr(), "{line}"),
            (false, false) => Ok(()),
        };
    }
}

/// A file that has a temporary name until it is complete.
struct Partial {
    path: PathBuf,
    partial: PathBuf,
}

impl Partial {
    fn new(path: &Path) -> Result<Partial, Failure> {
        if path.exists() {
            return Err(Failure::Failed(format!(
                "{} is there already; an export replaces nothing",
                path.display()
            )));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Ok(Partial { path: path.to_owned(), partial: partial.into() })
    }

    /// Creates the file, readable by this user only.
    fn create(&self) -> Result<File, Failure> {
        let mut options = OpenOptions::new();
        let created =
            options.write(true).create(true).truncate(true).mode(0o600).open(&self.partial);
        created.map_err(|error| {
            Failure::Failed(format!("cannot write {}: {error}", self.partial.display()))
        })
    }

    fn finish(self) -> Result<(), Failure> {
        File::open(&self.partial)?.sync_all()?;
        Ok(std::fs::rename(&self.partial, &self.path)?)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.partial);
    }
}
