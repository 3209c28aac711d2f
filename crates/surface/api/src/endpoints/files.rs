//! `/files`: files of callers, which batches read and write.

pub(super) mod content;
pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod remove;

use access::CredentialHolder;
use batches::FileError;
use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use store::file::{FileId, FilePurpose, StoredFile};
use uuid::Uuid;
use wire::files::{FileObject, FileObjectKind, FilePurposeName, FileStatus};

const ID_PREFIX: &str = "file-";

/// The file's name for callers.
pub(super) fn write_id(id: FileId) -> String {
    format!("{ID_PREFIX}{}", id.0.simple())
}

pub(super) fn parse_id(text: &str) -> Option<FileId> {
    let id = text.strip_prefix(ID_PREFIX).filter(|id| id.len() == 32)?;
    Uuid::try_parse(id).ok().map(FileId)
}

/// The caller's file. Another's is refused with the same words as one that does not exist.
pub(super) async fn find_file(
    app: &AppState,
    holder: &CredentialHolder,
    id: &str,
) -> Result<StoredFile, Refusal> {
    let Some(known) = parse_id(id) else { return Err(refuse_unknown(id)) };
    let found = app.batches.find_file(holder.owner.id, known).await;
    found.map_err(Refusal::unavailable)?.ok_or_else(|| refuse_unknown(id))
}

pub(super) fn refuse_unknown(id: &str) -> Refusal {
    Refusal::not_found("File not found", format!("No such File object: {id}"))
}

pub(super) fn to_wire(file: StoredFile) -> FileObject {
    FileObject {
        id: write_id(file.id),
        object: FileObjectKind::File,
        bytes: file.bytes,
        created_at: file.created.seconds(),
        expires_at: file.expires.seconds(),
        filename: file.name,
        purpose: to_wire_purpose(file.purpose),
        status: FileStatus::Processed,
    }
}

fn to_wire_purpose(purpose: FilePurpose) -> FilePurposeName {
    match purpose {
        FilePurpose::Batch => FilePurposeName::Batch,
        FilePurpose::BatchOutput => FilePurposeName::BatchOutput,
    }
}

pub(super) fn refuse_file(error: FileError) -> Refusal {
    match error {
        FileError::TooLarge { most } => Refusal::body_larger_than(&format!(
            "File exceeds the maximum allowed size of {most} bytes."
        )),
        FileError::NoRoom { most } => Refusal::body_larger_than(&format!(
            "Your files may have {most} bytes together. Delete some of them first."
        )),
        FileError::TooMany { most } => {
            let message =
                format!("You have {most} files, and no more are kept. Delete some first.");
            Refusal::bad_request("Too many files", message)
        }
        FileError::Empty => Refusal::bad_request("Empty file", "The file is empty."),
        FileError::Source(_) => {
            Refusal::bad_request("Invalid form", "The form is malformed or was cut short.")
        }
        FileError::InUse => Refusal::conflict(
            "File in use",
            "A batch reads this file. Wait until it has ended, or cancel it.",
        ),
        FileError::Unavailable(cause) => Refusal::unavailable(cause),
    }
}
