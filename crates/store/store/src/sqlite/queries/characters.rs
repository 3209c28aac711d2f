//! Queries about characters.

use ledger_core::OwnerId;
use uuid::Uuid;

use crate::character::{
    CharacterContent, CharacterPicture, CharacterQuery, ListedCharacter, ReviewPage,
};
use crate::sqlite::{SqliteStore, characters};
use crate::{CharacterStore, StoreFuture};

impl CharacterStore for SqliteStore {
    fn list_characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<ListedCharacter>> {
        self.query(move |connection| characters::list_characters(connection, &query, asker))
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<ListedCharacter>> {
        let name = slug_or_id.to_owned();
        self.query(move |connection| characters::find_character(connection, &name, asker))
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.query(move |connection| characters::read_content(connection, id))
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        let name = slug_or_id.to_owned();
        self.query(move |connection| characters::read_picture(connection, &name))
    }

    fn read_reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.query(move |connection| characters::read_reviews(connection, character, skip, size))
    }
}
