//! Queries about characters.

use credits::OwnerId;
use uuid::Uuid;

use crate::character::{
    CharacterContent, CharacterLine, CharacterPicture, CharacterQuery, ReviewPage,
};
use crate::sqlite::{Sqlite, characters};
use crate::{CharacterStore, StoreFuture};

impl CharacterStore for Sqlite {
    fn characters(
        &self,
        query: CharacterQuery,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'_, Vec<CharacterLine>> {
        self.ask(move |connection| characters::list(connection, &query, asker))
    }

    fn character<'a>(
        &'a self,
        slug_or_id: &'a str,
        asker: Option<OwnerId>,
    ) -> StoreFuture<'a, Option<CharacterLine>> {
        let name = slug_or_id.to_owned();
        self.ask(move |connection| characters::find(connection, &name, asker))
    }

    fn character_content(&self, id: Uuid) -> StoreFuture<'_, Option<CharacterContent>> {
        self.ask(move |connection| characters::content(connection, id))
    }

    fn character_picture<'a>(
        &'a self,
        slug_or_id: &'a str,
    ) -> StoreFuture<'a, Option<CharacterPicture>> {
        let name = slug_or_id.to_owned();
        self.ask(move |connection| characters::picture(connection, &name))
    }

    fn reviews(&self, character: Uuid, skip: u64, size: usize) -> StoreFuture<'_, ReviewPage> {
        self.ask(move |connection| characters::reviews(connection, character, skip, size))
    }
}
