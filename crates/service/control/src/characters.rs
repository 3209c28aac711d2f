//! Operations on characters: import and export of cards, and the built-in characters.

use ::characters::{CardFault, CharacterCard, draw_portrait, list_built_in_characters, to_slug};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::entropy::time_ordered_id;
use store::character::{
    CharacterContent, CharacterPicture, CharacterQuery, CharacterSort, CharacterWrite,
    StoredCharacter,
};
use store::error::StoreError;
use store::write::{StoreWrite, WriteGroup};

use crate::operation::OperationError;
use crate::reply::CharacterLine;
use crate::service::ControlService;

/// Maximum number that is appended to a name which is already in use.
const NUMBERS_MAX: usize = 1_000;
/// Characters read per store query.
const PAGE: usize = 500;
const FOUNDED: &str = "founded_characters";
const SVG: &str = "image/svg+xml";

impl ControlService {
    /// Imports a card; `file` is base64.
    pub(crate) async fn import_character(
        &self,
        file: &str,
    ) -> Result<CharacterLine, OperationError> {
        let refuse = |fault: CardFault| OperationError::Refused(fault.to_string());
        let bytes = BASE64_STANDARD
            .decode(file)
            .map_err(|_| OperationError::Refused("the file is not in base64".to_owned()))?;
        let (card, picture) = ::characters::read_card_file(&bytes).map_err(refuse)?;
        let picture = picture.map_or_else(
            || build_portrait(&card),
            |it| CharacterPicture { media_type: it.media_type.to_owned(), bytes: it.bytes },
        );
        let wanted = to_slug(&card.name);
        for number in 1..=NUMBERS_MAX {
            let slug = if number == 1 { wanted.clone() } else { format!("{wanted}-{number}") };
            match self.add_character(&card, slug, picture.clone()).await {
                Ok(character) => return Ok(to_character_line(&character)),
                Err(StoreError::Duplicate(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(OperationError::Refused(format!("too many characters are called {}", card.name)))
    }

    /// Exports a character as a V2 card.
    pub(crate) async fn export_character(&self, slug: &str) -> Result<String, OperationError> {
        let missing = || OperationError::Refused(format!("there is no character `{slug}`"));
        let found = self.store.character(slug, None).await?.ok_or_else(missing)?;
        let content = self.store.character_content(found.character.id).await?;
        content.map(|content| content.card).ok_or_else(missing)
    }

    pub(crate) async fn list_characters(&self) -> Result<Vec<CharacterLine>, OperationError> {
        let mut lines = Vec::new();
        for adult in [false, true] {
            let mut offset = 0;
            loop {
                let query = CharacterQuery {
                    adult,
                    pro: None,
                    web_enabled: None,
                    tags_any: Vec::new(),
                    tags_all: Vec::new(),
                    models: Vec::new(),
                    words: Vec::new(),
                    sort: CharacterSort::MostRecent,
                    ascending: true,
                    limit: PAGE,
                    offset,
                };
                let page = self.store.list_characters(query, None).await?;
                let count = page.len();
                lines.extend(page.iter().map(|it| CharacterLine {
                    imports: it.imports,
                    rating_count: it.rating_count,
                    ..to_character_line(&it.character)
                }));
                offset += u64::try_from(count).unwrap_or(u64::MAX);
                if count < PAGE {
                    break;
                }
            }
        }
        Ok(lines)
    }

    /// Adds the built-in characters, once: characters that the operator deletes are not added
    /// again.
    pub async fn add_built_in_characters(&self) -> Result<(), OperationError> {
        if self.store.setting(FOUNDED).await?.is_some() {
            return Ok(());
        }
        let ours = list_built_in_characters()
            .map_err(|fault| OperationError::Failed(fault.to_string()))?;
        for it in ours {
            let bytes = it.portrait.into_bytes();
            let picture = CharacterPicture { media_type: SVG.to_owned(), bytes };
            match self.add_character(&it.card, it.slug, picture).await {
                // An earlier start added it and ended before it recorded that.
                Ok(_) | Err(StoreError::Duplicate(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let at = self.clock.now().to_string().into_bytes();
        let write = StoreWrite::PutSetting { name: FOUNDED.to_owned(), value: at };
        Ok(self.store.commit(WriteGroup::from_write(write)).await?)
    }

    async fn add_character(
        &self,
        card: &CharacterCard,
        slug: String,
        picture: CharacterPicture,
    ) -> Result<StoredCharacter, StoreError> {
        let now = self.clock.now();
        let id = time_ordered_id(now, self.entropy.as_ref());
        let (character, content) = StoredCharacter::from_card(card, id, slug, now);
        let content = CharacterContent { picture: Some(picture), ..content };
        let write = CharacterWrite::Add { character: character.clone(), content };
        self.store.commit(WriteGroup::from_write(write.into())).await?;
        Ok(character)
    }
}

fn build_portrait(card: &CharacterCard) -> CharacterPicture {
    CharacterPicture { media_type: SVG.to_owned(), bytes: draw_portrait(&card.name).into_bytes() }
}

fn to_character_line(character: &StoredCharacter) -> CharacterLine {
    CharacterLine {
        id: character.id,
        slug: character.slug.clone(),
        name: character.name.clone(),
        tags: character.tags.clone(),
        adult: character.adult,
        imports: 0,
        rating_count: 0,
        created_at: character.created.to_string(),
    }
}
