//! Characters: personas that callers chat with.

pub(crate) mod detail;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod manage;
pub(crate) mod photo;
pub(crate) mod reviews;

use http_frame::app::AppState;
use http_frame::refusal::Refusal;
use ledger_core::OwnerId;
use store::character::ListedCharacter;

/// Finds a character by slug or id.
async fn find_character(
    app: &AppState,
    slug: &str,
    asker: OwnerId,
) -> Result<ListedCharacter, Refusal> {
    let found = app.store.character(slug, Some(asker)).await.map_err(Refusal::unavailable)?;
    found.ok_or_else(|| {
        let message = "No character could be found from the provided slug";
        Refusal::not_found("Character not found", message)
    })
}
