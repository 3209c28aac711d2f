//! Characters, their reviews, and queries for them.

use characters::CharacterCard;
use ledger_core::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

/// A character as its maker defined it. The store keeps its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCharacter {
    pub id: Uuid,
    /// The name in URLs.
    pub slug: String,
    pub name: String,
    pub description: String,
    pub author: String,
    /// As displayed; searched in lower case.
    pub tags: Vec<String>,
    pub adult: bool,
    pub featured: bool,
    pub pro: bool,
    pub web_enabled: bool,
    pub model: Option<String>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// The parts that are only needed to chat as a character, or to display it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterContent {
    /// A character card, as JSON.
    pub card: String,
    pub picture: Option<CharacterPicture>,
    /// The words that it is found by, in lower case.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterPicture {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// A character with its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCharacter {
    pub character: StoredCharacter,
    pub imports: u64,
    pub rating_count: u64,
    pub rating_sum: u64,
    /// The rating that the querying owner gave.
    pub own_rating: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharacterSort {
    /// Only featured characters, by imports.
    Featured,
    HighestRating,
    /// Only characters with at least two ratings, by their average.
    HighlyRated,
    /// Only characters rated three or better, newest first.
    HighlyRatedAndRecent,
    Imports,
    MostRecent,
    RatingCount,
}

/// Filters and order of a list. A character must have one of several tags or models, and all of the
/// words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterQuery {
    pub adult: bool,
    pub pro: Option<bool>,
    pub web_enabled: Option<bool>,
    /// In lower case, like `tags_all`.
    pub tags_any: Vec<String>,
    pub tags_all: Vec<String>,
    pub models: Vec<String>,
    /// Prefixes of words, in lower case.
    pub words: Vec<String>,
    pub sort: CharacterSort,
    pub ascending: bool,
    pub limit: usize,
    pub offset: u64,
}

/// A review of a character. A second one by the same account replaces the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterReview {
    pub id: Uuid,
    pub character: Uuid,
    pub owner: OwnerId,
    pub rating: u8,
    pub message: String,
    pub locale: String,
    pub username: String,
    pub created: Timestamp,
}

/// The writes about characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharacterWrite {
    /// A duplicate if the slug or id is taken.
    Add {
        character: StoredCharacter,
        content: CharacterContent,
    },
    /// Replaces everything but the counters; the picture only if there is a new one.
    Change {
        character: StoredCharacter,
        content: CharacterContent,
    },
    Remove(Uuid),
    /// Replaces the account's earlier review, if there is one.
    PutReview(CharacterReview),
    /// Counts an account once among those that chatted with a character.
    NoteUse {
        character: Uuid,
        owner: OwnerId,
        at: Timestamp,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewPage {
    /// Newest first.
    pub reviews: Vec<CharacterReview>,
    pub total: u64,
}

impl StoredCharacter {
    /// The rows of a character card. The author is stored under a pseudonym that reveals nothing
    /// else.
    pub fn from_card(
        card: &CharacterCard,
        id: Uuid,
        slug: String,
        now: Timestamp,
    ) -> (StoredCharacter, CharacterContent) {
        let author = if card.creator.is_empty() { &slug } else { &card.creator };
        let character = StoredCharacter {
            id,
            author: characters::anonymize_author(author),
            slug,
            name: card.name.clone(),
            description: card.summary(),
            tags: card.tags.clone(),
            adult: card.is_adult(),
            featured: card.is_featured(),
            pro: card.is_pro(),
            web_enabled: card.is_web_enabled(),
            model: card.recommended_model(),
            created: now,
            updated: now,
        };
        let content = CharacterContent {
            card: card.to_v2().to_string(),
            picture: None,
            words: character.search_words(),
        };
        (character, content)
    }

    /// The words that the character is found by.
    pub fn search_words(&self) -> Vec<String> {
        let texts = [self.name.as_str(), self.description.as_str()];
        characters::list_words(texts.into_iter().chain(self.tags.iter().map(String::as_str)))
    }
}

/// The largest number of matches at which a single condition drives a query.
const RARE_MAX: usize = 2_000;
/// The same for several conditions: their intersection may be small although none of them is.
const RARE_OF_SEVERAL_MAX: usize = 20_000;

/// One condition of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharacterCondition<'a> {
    /// A word with this prefix.
    Word(&'a str),
    /// One of these tags.
    Tags(&'a [String]),
    /// One of these models.
    Models(&'a [String]),
}

impl CharacterCondition<'_> {
    /// The end of the range of words with this prefix, exclusive.
    pub fn prefix_range_end(beginning: &str) -> String {
        format!("{beginning}\u{10ffff}")
    }
}

impl CharacterQuery {
    /// The conditions of the query, besides the flags.
    pub fn conditions(&self) -> Vec<CharacterCondition<'_>> {
        let mut conditions: Vec<CharacterCondition<'_>> =
            self.words.iter().map(|word| CharacterCondition::Word(word)).collect();
        let all = self.tags_all.iter().map(std::slice::from_ref);
        conditions.extend(all.map(CharacterCondition::Tags));
        if !self.tags_any.is_empty() {
            conditions.push(CharacterCondition::Tags(&self.tags_any));
        }
        if !self.models.is_empty() {
            conditions.push(CharacterCondition::Models(&self.models));
        }
        conditions
    }
}

/// The largest number of matches that counts as rare, by the number of conditions.
pub fn rare_max(conditions: usize) -> usize {
    if conditions == 1 { RARE_MAX } else { RARE_OF_SEVERAL_MAX }
}

/// The index of the condition with the fewest matches, if they are rare. Counting stopped at one
/// more than is rare.
pub fn find_rarest_condition(counts: &[usize]) -> Option<usize> {
    let rarest = counts.iter().enumerate().min_by_key(|(_, count)| **count);
    let is_rare = |(_, count): &(usize, &usize)| **count <= rare_max(counts.len());
    rarest.filter(is_rare).map(|(index, _)| index)
}
