//! `tollgate export` and `tollgate import`: move all data to another kind of database.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, IsTerminal, Write, stderr, stdin, stdout};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use config::sections::store::StoreLocation;
use control::actor::AuditActor;
use ledger::verify_books;
use logging::WIPE;
use moment::{Clock, SystemClock};
use store::Store;
use store::audit::AuditEntry;
use store::export::{ExportProgress, ExportReader, ExportWriter};
use store::sqlite::restore::StagedDatabase;
use store::sqlite::{self, SqliteOptions, SqliteStore};
use store::write::{StoreWrite, WriteGroup};

use crate::args;
use crate::database::connect_alone;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::print_note;

const STANDARD: &str = "-";
const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// The maximum number of differences listed for an inconsistent ledger.
const DIFFERENCES_SHOWN_MAX: usize = 10;
const BUFFER_BYTES: usize = 1024 * 1024;

pub(crate) async fn export_database(
    operator: &OperationClient<'_>,
    command: &args::ExportArgs,
) -> Result<(), CommandError> {
    refuse_if_running(operator, "charges after the export would be missing in it")?;
    let location = resolve_store_location(operator)?;
    if command.file == Path::new(STANDARD) {
        if stdout().is_terminal() {
            return Err(CommandError::Usage(
                "an export contains secrets: write it to a file or a pipe, not to a terminal"
                    .to_owned(),
            ));
        }
        let rows =
            write_export(operator, &location, BufWriter::with_capacity(BUFFER_BYTES, stdout()))
                .await?;
        return say_exported(&format!("{rows} rows"));
    }
    let partial = PartialFile::new(&command.file)?;
    let file = BufWriter::with_capacity(BUFFER_BYTES, partial.create()?);
    let rows = write_export(operator, &location, file).await?;
    partial.finish()?;
    say_exported(&format!("{}: {rows} rows", command.file.display()))
}

async fn write_export(
    operator: &OperationClient<'_>,
    location: &StoreLocation,
    to: impl Write,
) -> Result<u64, CommandError> {
    let mut tell = build_progress_printer();
    let writer = ExportWriter::begin(to, RELEASE, &mut tell)?;
    Ok(match location {
        StoreLocation::Sqlite(file) if !file.exists() => {
            return Err(CommandError::Failed(format!("there is no database {}", file.display())));
        }
        StoreLocation::Sqlite(file) => {
            SqliteStore::open(&SqliteOptions::durable(file))?.export(writer).await?
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
pub(crate) async fn import_database(
    operator: &OperationClient<'_>,
    command: &args::ImportArgs,
) -> Result<(), CommandError> {
    refuse_if_running(operator, "an import needs exclusive access to the database")?;
    let location = resolve_store_location(operator)?;
    let (file, is_standard) = (&command.file, command.file == Path::new(STANDARD));
    if !is_standard {
        // Reads the whole file first, so that a damaged file is reported as such before the
        // database is changed.
        let mut untold = |_| {};
        read_through(ExportReader::begin(open_export_file(file)?, &mut untold)?)?;
    }
    let mut tell = build_progress_printer();
    let from: Box<dyn BufRead> = if is_standard {
        Box::new(BufReader::new(stdin()))
    } else {
        Box::new(open_export_file(file)?)
    };
    let reader = ExportReader::begin(from, &mut tell)?;
    let (rows, transfers) = match location {
        StoreLocation::Sqlite(database) => into_sqlite(&database, reader, file).await?,
        StoreLocation::Postgres(url) => {
            let data_dir = &operator.surroundings.data_dir.path;
            let store = connect_alone(data_dir, url.expose()).await?;
            let rows = store.import(reader).await?;
            let transfers = verify_import(&store, file).await;
            store.close().await;
            (rows, transfers?)
        }
    };
    print_note(&format!("{rows} rows, {transfers} transfers: every balance is right"));
    Ok(())
}

async fn into_sqlite<R: BufRead>(
    database: &Path,
    reader: ExportReader<'_, R>,
    file: &Path,
) -> Result<(u64, u64), CommandError> {
    let staged = StagedDatabase::empty(database)?;
    let rows = sqlite::import::import_database(reader, staged.path())?;
    let store = SqliteStore::open(&SqliteOptions::durable(staged.path()))?;
    let transfers = verify_import(&store, file).await?;
    drop(store);
    staged.move_to_final_path(false, SystemClock.now())?;
    Ok((rows, transfers))
}

/// Verifies the ledger, and records the import in the audit trail.
async fn verify_import(store: &dyn Store, file: &Path) -> Result<u64, CommandError> {
    let noted = AuditEntry {
        at: SystemClock.now(),
        actor: AuditActor::of_this_process().name().to_owned(),
        action: "import".to_owned(),
        subject: file.display().to_string(),
        detail: format!("by release {RELEASE}"),
    };
    store.commit(WriteGroup::from_write(StoreWrite::AddAudit(noted))).await?;
    let report = verify_books(store).await?;
    if report.is_clean() {
        return Ok(report.transfers);
    }
    let told: Vec<String> =
        report.violations.iter().take(DIFFERENCES_SHOWN_MAX).map(ToString::to_string).collect();
    Err(CommandError::Failed(format!(
        "everything was imported as it was exported, and its books are not right; `tollgate ledger \
         verify` tells of the same where it was exported:\n{}",
        told.join("\n")
    )))
}

fn refuse_if_running(operator: &OperationClient<'_>, why: &str) -> Result<(), CommandError> {
    if !operator.is_running() {
        return Ok(());
    }
    Err(CommandError::Failed(format!(
        "a service is running on this data directory; stop it first: {why}"
    )))
}

fn resolve_store_location(operator: &OperationClient<'_>) -> Result<StoreLocation, CommandError> {
    let ground = operator.surroundings.gather_sources(Vec::new()).read_database_config()?;
    Ok(match ground.store.location {
        StoreLocation::Sqlite(file) => {
            StoreLocation::Sqlite(operator.surroundings.data_dir.path.join(file))
        }
        postgres @ StoreLocation::Postgres(_) => postgres,
    })
}

fn open_export_file(file: &Path) -> Result<BufReader<File>, CommandError> {
    let opened = File::open(file);
    let opened = opened.map_err(|error| {
        CommandError::Failed(format!("cannot open {}: {error}", file.display()))
    })?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, opened))
}

fn read_through<R: BufRead>(mut reader: ExportReader<'_, R>) -> Result<(), CommandError> {
    while reader.next_table()?.is_some() {
        while reader.next_row()?.is_some() {}
    }
    Ok(())
}

fn say_exported(what: &str) -> Result<(), CommandError> {
    print_note(what);
    print_note(
        "music and videos are not in it: where [media] names a directory, copy that directory too. \
         Keep the file from others: it holds secrets",
    );
    Ok(())
}

/// Returns a callback that prints progress on standard error: one updated line on a terminal,
/// otherwise one line per table.
fn build_progress_printer() -> impl FnMut(ExportProgress) + Send {
    let is_terminal = stderr().is_terminal();
    move |ExportProgress { table, rows, is_whole }| {
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
struct PartialFile {
    path: PathBuf,
    partial: PathBuf,
}

impl PartialFile {
    fn new(path: &Path) -> Result<PartialFile, CommandError> {
        if path.exists() {
            return Err(CommandError::Failed(format!(
                "{} already exists; an export does not overwrite a file",
                path.display()
            )));
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        Ok(PartialFile { path: path.to_owned(), partial: partial.into() })
    }

    /// Creates the file, readable by this user only.
    fn create(&self) -> Result<File, CommandError> {
        let mut options = OpenOptions::new();
        let created =
            options.write(true).create(true).truncate(true).mode(0o600).open(&self.partial);
        created.map_err(|error| {
            CommandError::Failed(format!("cannot write {}: {error}", self.partial.display()))
        })
    }

    fn finish(self) -> Result<(), CommandError> {
        File::open(&self.partial)?.sync_all()?;
        Ok(std::fs::rename(&self.partial, &self.path)?)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.partial);
    }
}
