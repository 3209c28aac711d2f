//! Lists over a hundred thousand characters: `cargo bench -p store --bench characters`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a tool that prints numbers")]

use std::time::{Duration, Instant};

use moment::Timestamp;
use store::character::{
    CharacterContent, CharacterQuery, CharacterSort, CharacterWrite, StoredCharacter,
};
use store::sqlite::{SqliteOptions, SqliteStore};
use store::write::WriteGroup;
use store::{CharacterStore, Store};
use uuid::Uuid;

const CHARACTERS: u64 = 100_000;
const IN_A_GROUP: u64 = 1_000;
const ROUNDS: usize = 9;

/// Words that a fifth of all characters have, besides some of their own.
const COMMON: [&str; 3] = ["gentle", "winter", "sailor"];

fn character(number: u64) -> StoredCharacter {
    let is_one_of = |step: u64| (number / step).wrapping_mul(2_654_435_761) % 100 < 19;
    let common = COMMON.iter().zip([1, 3, 7]).filter(|(_, step)| is_one_of(*step));
    let common: Vec<&str> = common.map(|(word, _)| *word).collect();
    let at = Timestamp::from_ms(1_700_000_000_000 + i64::try_from(number).unwrap());
    StoredCharacter {
        id: Uuid::from_u128(u128::from(number) + 1),
        slug: format!("character-{number}"),
        name: format!("Name{} the {}", number % 5_000, number % 700),
        description: format!("number{number} {}", common.join(" ")),
        author: "somebody".to_owned(),
        tags: vec![format!("tag{}", number % 300)],
        adult: false,
        featured: number.is_multiple_of(50),
        pro: false,
        web_enabled: number.is_multiple_of(3),
        model: None,
        created: at,
        updated: at,
    }
}

fn query(words: &[&str]) -> CharacterQuery {
    CharacterQuery {
        adult: false,
        pro: None,
        web_enabled: None,
        tags_any: Vec::new(),
        tags_all: Vec::new(),
        models: Vec::new(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        sort: CharacterSort::Imports,
        ascending: false,
        limit: 50,
        offset: 0,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(&SqliteOptions::scratch(folder.path().join("characters.db"))).unwrap();
    for first in (0..CHARACTERS).step_by(usize::try_from(IN_A_GROUP).unwrap()) {
        let add = |number| {
            let character = character(number);
            let words = character.search_words();
            let content = CharacterContent { card: "{}".to_owned(), picture: None, words };
            CharacterWrite::Add { character, content }.into()
        };
        let writes = (first..first + IN_A_GROUP).map(add).collect();
        store.commit(WriteGroup { writes }).await.unwrap();
    }
    for words in [&[][..], &["number77"], &["sailor"], &["winter", "sailor"], &COMMON] {
        let mut best = (Duration::MAX, 0);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let found = store.list_characters(query(words), None).await.unwrap();
            best = best.min((begun.elapsed(), found.len()));
        }
        println!("{:6.2} ms, {:2} listed: {}", best.0.as_secs_f64() * 1e3, best.1, words.join(" "));
    }
}
