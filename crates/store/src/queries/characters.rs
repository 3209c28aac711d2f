//! Queries about characters.

use credits::OwnerId;
use uuid::Uuid;

use crate::StoreFuture;
use crate::character::{
    CharacterContent, CharacterLine, CharacterPicture, CharacterQuery, ReviewPage,
};

pub trait CharacterStore: Send + Sync {
    /// Those that a query asks for, with the ratings of the one who asks.
    fn characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<CharacterLine>>;

    /// The character of a name in addresses, or of an id.
    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<CharacterLine>>;

    /// What it says; its picture is left out, and so are its words.
    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>>;

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>>;

    fn reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage>;
}
