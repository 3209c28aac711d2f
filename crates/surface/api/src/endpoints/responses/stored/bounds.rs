//! Bounds on what an owner stores, and on its notes.

use std::collections::BTreeMap;

use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::OwnerId;
use schema_check::ValidationFaults;

/// Responses, conversations and items that an owner may keep, and their bytes.
const OBJECTS_PER_OWNER_MAX: u64 = 20_000;
const BYTES_PER_OWNER_MAX: u64 = 512 * 1024 * 1024;
/// Notes of a caller, as OpenAI bounds them.
const NOTES_MAX: usize = 16;
const NOTE_NAME_CHARS_MAX: usize = 64;
const NOTE_CHARS_MAX: usize = 512;

/// Reports notes that are too many or too long.
pub(in crate::endpoints) fn check_notes(
    metadata: &BTreeMap<String, String>,
    faults: &mut ValidationFaults,
) {
    let is_long = |(name, note): (&String, &String)| {
        NOTE_NAME_CHARS_MAX < name.chars().count() || NOTE_CHARS_MAX < note.chars().count()
    };
    if NOTES_MAX < metadata.len() || metadata.iter().any(is_long) {
        faults.at(["metadata"]).push(format!(
            "At most {NOTES_MAX} notes, with keys of up to {NOTE_NAME_CHARS_MAX} and values of up \
             to {NOTE_CHARS_MAX} characters"
        ));
    }
}

/// Refuses to store more for an owner that has stored as much as it may.
pub(in crate::endpoints) async fn refuse_if_full(
    app: &AppState,
    owner: OwnerId,
) -> Result<(), Refusal> {
    let stored = app.store.stored_totals(owner).await.map_err(Refusal::unavailable)?;
    if stored.objects < OBJECTS_PER_OWNER_MAX && stored.bytes < BYTES_PER_OWNER_MAX {
        return Ok(());
    }
    Err(Refusal::bad_request(
        "Storage full",
        format!(
            "An account keeps at most {OBJECTS_PER_OWNER_MAX} responses and items, and \
             {BYTES_PER_OWNER_MAX} bytes of them. Delete some, or leave out `store`."
        ),
    ))
}
