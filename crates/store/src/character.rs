//! Characters, what is said of them, and how they are looked for.

use characters::Card;
use credits::OwnerId;
use moment::Timestamp;
use uuid::Uuid;

/// A character as its makers see it. Numbers about it are kept by the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Character {
    pub id: Uuid,
    /// Its name in addresses.
    pub slug: String,
    pub name: String,
    pub description: String,
    pub author: String,
    /// As they are shown; found in lower case.
    pub tags: Vec<String>,
    pub adult: bool,
    pub featured: bool,
    pub pro: bool,
    pub web_enabled: bool,
    pub model: Option<String>,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// What is only needed to speak as a character, or to show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterContent {
    /// A character card, as JSON.
    pub card: String,
    pub picture: Option<CharacterPicture>,
    /// In lower case: what it can be found by.
    pub words: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterPicture {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// A character with what callers made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterLine {
    pub character: Character,
    pub imports: u64,
    pub rating_count: u64,
    pub rating_sum: u64,
    /// What the caller who asks has given it.
    pub own_rating: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CharacterSort {
    /// Only those that are featured, by imports.
    Featured,
    HighestRating,
    /// Only those with two ratings or more, by their average.
    HighlyRated,
    /// Only those rated three or better, the newest first.
    HighlyRatedAndRecent,
    Imports,
    MostRecent,
    RatingCount,
}

/// Which characters to list. Of several tags or models, one is enough; every word must be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CharacterQuery {
    pub adult: bool,
    pub pro: Option<bool>,
    pub web_enabled: Option<bool>,
    /// In lower case, as those of `tags_all`.
    pub tags_any: Vec<String>,
    pub tags_all: Vec<String>,
    pub models: Vec<String>,
    /// Beginnings of words, in lower case.
    pub words: Vec<String>,
    pub sort: CharacterSort,
    pub ascending: bool,
    pub limit: usize,
    pub offset: u64,
}

/// What an account says of a character. A second one of the same account replaces the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    pub id: Uuid,
    pub character: Uuid,
    pub owner: OwnerId,
    pub rating: u8,
    pub message: String,
    pub locale: String,
    pub username: String,
    pub created: Timestamp,
}

/// What can be written about characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharacterWrite {
    /// A duplicate if its slug or id is taken.
    Add {
        character: Character,
        content: CharacterContent,
    },
    /// Everything but its numbers; its picture only where there is a new one.
    Change {
        character: Character,
        content: CharacterContent,
    },
    Remove(Uuid),
    /// In place of the account's first review, if it has one.
    PutReview(Review),
    /// Counts an account once among those that chatted with a character.
    NoteUse {
        character: Uuid,
        owner: OwnerId,
        at: Timestamp,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewPage {
    /// The newest first.
    pub reviews: Vec<Review>,
    pub total: u64,
}

impl Character {
    /// The rows of a card. Whoever wrote it is told by a name that says nothing else.
    pub fn of(
        card: &Card,
        id: Uuid,
        slug: String,
        now: Timestamp,
    ) -> (Character, CharacterContent) {
        let author = if card.creator.is_empty() { &slug } else { &card.creator };
        let character = Character {
            id,
            author: characters::anonymous(author),
            slug,
            name: card.name.clone(),
            description: card.summary(),
            tags: card.tags.clone(),
            adult: card.is_adult(),
            featured: card.is_featured(),
            pro: card.is_pro(),
            web_enabled: card.is_web_enabled(),
            model: card.model(),
            created: now,
            updated: now,
        };
        let content = CharacterContent {
            card: card.to_v2().to_string(),
            picture: None,
            words: character.words(),
        };
        (character, content)
    }

    /// What it can be found by.
    pub fn words(&self) -> Vec<String> {
        let texts = [self.name.as_str(), self.description.as_str()];
        characters::words(texts.into_iter().chain(self.tags.iter().map(String::as_str)))
    }
}

/// With at most this many characters, a condition drives a list.
const RARE_MAX: usize = 2_000;
/// The same where there are several: what has all of them may be rare though none of them is.
const RARE_OF_SEVERAL_MAX: usize = 20_000;

/// One thing that a listed character must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// A word that begins like this.
    Word(&'a str),
    /// One of these.
    Tags(&'a [String]),
    /// One of these.
    Models(&'a [String]),
}

impl Condition<'_> {
    /// Behind every word that begins like this one.
    pub fn end_of_words(beginning: &str) -> String {
        format!("{beginning}\u{10ffff}")
    }
}

impl CharacterQuery {
    /// What narrows the list down, beside the flags.
    pub fn conditions(&self) -> Vec<Condition<'_>> {
        let mut conditions: Vec<Condition<'_>> =
            self.words.iter().map(|word| Condition::Word(word)).collect();
        let all = self.tags_all.iter().map(std::slice::from_ref);
        conditions.extend(all.map(Condition::Tags));
        if !self.tags_any.is_empty() {
            conditions.push(Condition::Tags(&self.tags_any));
        }
        if !self.models.is_empty() {
            conditions.push(Condition::Models(&self.models));
        }
        conditions
    }
}

/// Up to how many characters are rare, where a list has so many conditions.
pub fn rare_max(conditions: usize) -> usize {
    if conditions == 1 { RARE_MAX } else { RARE_OF_SEVERAL_MAX }
}

/// The condition that leaves the fewest characters, if those are few. Each was counted up to one
/// more than is rare.
pub fn driver(counts: &[usize]) -> Option<usize> {
    let rarest = counts.iter().enumerate().min_by_key(|(_, count)| **count);
    let is_rare = |(_, count): &(usize, &usize)| **count <= rare_max(counts.len());
    rarest.filter(is_rare).map(|(index, _)| index)
}
