//! Character cards: reads V1, V2 and V3, writes V2.

use serde_json::{Map, Value, json};

use crate::lorebook::Lorebook;

/// Limit of the name.
const NAME_CHARS_MAX: usize = 100;
/// Limit of all text in a card, because it goes into prompts.
const TEXT_CHARS_MAX: usize = 100_000;
/// Limit of the summary in lists.
const DESCRIPTION_CHARS_MAX: usize = 2_000;
const TAGS_MAX: usize = 32;
const TAG_CHARS_MAX: usize = 50;
/// The name of our own object in a card's extensions.
const EXTENSION: &str = "tollgate";
const ADULT_TAGS: [&str; 4] = ["nsfw", "adult", "18+", "explicit"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardFault {
    #[error("The file is not a character card: {0}")]
    NoCard(&'static str),
    #[error("Its {0} is too long.")]
    TooLong(&'static str),
    #[error("The file is larger than {0} MB.")]
    TooLarge(usize),
    #[error("The file is damaged: {0}")]
    Damaged(&'static str),
}

/// A valid card. Other fields are kept in `data`.
#[derive(Debug, Clone, PartialEq)]
pub struct CharacterCard {
    pub name: String,
    pub nickname: Option<String>,
    pub description: String,
    pub personality: String,
    pub scenario: String,
    pub greetings: Vec<String>,
    pub examples: String,
    pub notes: String,
    pub system_prompt: String,
    pub last_words: String,
    pub tags: Vec<String>,
    pub creator: String,
    pub book: Option<Lorebook>,
    /// The `data` object of the card, unchanged.
    pub data: Map<String, Value>,
}

impl CharacterCard {
    /// Parses a card of any of the three versions.
    pub fn from_json(value: Value) -> Result<CharacterCard, CardFault> {
        let Value::Object(mut card) = value else {
            return Err(CardFault::NoCard("it is not a JSON object"));
        };
        let data = match card.remove("data") {
            Some(Value::Object(data)) => data,
            _ => card,
        };
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let name = text("name").to_owned();
        if name.is_empty() {
            return Err(CardFault::NoCard("it has no name"));
        }
        if NAME_CHARS_MAX < name.chars().count() {
            return Err(CardFault::TooLong("name"));
        }
        let mut greetings = vec![text("first_mes").to_owned()];
        greetings.extend(read_texts(&data, "alternate_greetings"));
        greetings.retain(|it| !it.is_empty());
        let mut tags = read_texts(&data, "tags");
        tags.retain(|tag| !tag.is_empty() && tag.chars().count() <= TAG_CHARS_MAX);
        tags.truncate(TAGS_MAX);
        let card = CharacterCard {
            nickname: Some(text("nickname").to_owned()).filter(|it| !it.is_empty()),
            description: text("description").to_owned(),
            personality: text("personality").to_owned(),
            scenario: text("scenario").to_owned(),
            examples: text("mes_example").to_owned(),
            notes: text("creator_notes").to_owned(),
            system_prompt: text("system_prompt").to_owned(),
            last_words: text("post_history_instructions").to_owned(),
            creator: text("creator").to_owned(),
            book: data.get("character_book").and_then(Lorebook::from_json),
            greetings,
            tags,
            name,
            data,
        };
        if TEXT_CHARS_MAX < card.data.values().map(count_text_chars).sum::<usize>() {
            return Err(CardFault::TooLong("text"));
        }
        if card.description.is_empty()
            && card.personality.is_empty()
            && card.system_prompt.is_empty()
        {
            return Err(CardFault::NoCard("it says nothing about the character"));
        }
        Ok(card)
    }

    /// Parses the JSON that [`CharacterCard::to_v2`] returns.
    pub fn parse(text: &str) -> Result<CharacterCard, CardFault> {
        let value = serde_json::from_str(text).map_err(|_| CardFault::NoCard("it is not JSON"))?;
        CharacterCard::from_json(value)
    }

    /// Returns the card as V2, with all its original fields.
    pub fn to_v2(&self) -> Value {
        let mut data = self.data.clone();
        for field in [
            "name",
            "description",
            "personality",
            "scenario",
            "first_mes",
            "mes_example",
            "creator_notes",
            "system_prompt",
            "post_history_instructions",
            "creator",
            "character_version",
        ] {
            data.entry(field).or_insert_with(|| json!(""));
        }
        for field in ["alternate_greetings", "tags"] {
            data.entry(field).or_insert_with(|| json!([]));
        }
        data.entry("extensions").or_insert_with(|| json!({}));
        json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": data})
    }

    /// Returns the description for lists: the first paragraph of the creator's notes, or else the
    /// description.
    pub fn summary(&self) -> String {
        let notes = self.notes.split("\n\n").next().unwrap_or_default().trim();
        let text = if notes.is_empty() { &self.description } else { notes };
        let text = text.replace("{{char}}", &self.name).replace("{{user}}", "you");
        text.chars().take(DESCRIPTION_CHARS_MAX).collect()
    }

    /// Returns the model that the card's author recommends.
    pub fn recommended_model(&self) -> Option<String> {
        let model = self.extension_value("model")?.as_str()?.trim();
        (!model.is_empty()).then(|| model.to_owned())
    }

    pub fn is_adult(&self) -> bool {
        let is_tagged = |tag: &String| ADULT_TAGS.contains(&tag.to_lowercase().as_str());
        self.extension_flag("adult") || self.tags.iter().any(is_tagged)
    }

    pub fn is_featured(&self) -> bool {
        self.extension_flag("featured")
    }

    pub fn is_pro(&self) -> bool {
        self.extension_flag("pro")
    }

    /// True if the character may use web search.
    pub fn is_web_enabled(&self) -> bool {
        self.extension_flag("web")
    }

    fn extension_flag(&self, name: &str) -> bool {
        self.extension_value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn extension_value(&self, name: &str) -> Option<&Value> {
        self.data.get("extensions")?.get(EXTENSION)?.get(name)
    }
}

fn read_texts(data: &Map<String, Value>, name: &str) -> Vec<String> {
    let listed = data.get(name).and_then(Value::as_array);
    let texts = listed.into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| text.trim().to_owned()).collect()
}

/// Returns the number of characters of all strings in a value.
fn count_text_chars(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(values) => values.iter().map(count_text_chars).sum(),
        Value::Object(values) => values.values().map(count_text_chars).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
