//! Queries about characters.

use ledger_core::OwnerId;
use uuid::Uuid;

use crate::StoreFuture;
use crate::character::{
    CharacterContent, CharacterPicture, CharacterQuery, ListedCharacter, ReviewPage,
};

pub trait CharacterStore: Send + Sync {
    /// The characters that match a query, with the ratings by `asker`.
    fn list_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>>;

    /// The character with this slug or id.
    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<ListedCharacter>>;

    /// The content of a character, without its picture and words.
    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>>;

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>>;

    fn read_reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage>;
}
