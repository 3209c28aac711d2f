//! Queries about characters.

use credits::OwnerId;
use uuid::Uuid;

use crate::StoreFuture;
use crate::character::{
    CharacterContent, CharacterLine, CharacterPicture, CharacterQuery, ReviewPage,
};

pub trait CharacterStore: Send + Sync {
    /// The characters that match a query, with the ratings by `asker`.
    fn characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<CharacterLine>>;

    /// The character with this slug or id.
    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<CharacterLine>>;

    /// The content of a character, without its picture and words.
    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>>;

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>>;

    fn reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage>;
}
