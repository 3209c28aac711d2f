//! Characters, reviews and uses: counters are exact, and lists find the right characters.

use uuid::Uuid;

use crate::Store;
use crate::character::{
    Character, CharacterContent, CharacterPicture, CharacterQuery, CharacterSort, CharacterWrite,
    Review,
};
use crate::conformance::Cases;
use crate::conformance::fixture::{at, done, owner, owner_id, refused};
use crate::error::StoreError;
use crate::write::Write;

pub(crate) const CASES: Cases = &[
    ("a character is found by its slug and its id", |store| Box::pin(found(store))),
    ("a second character of the same slug is a duplicate", |store| Box::pin(taken(store))),
    ("a changed character keeps its numbers and its picture", |store| Box::pin(changed(store))),
    ("an account has one review, and the sums follow it", |store| Box::pin(reviewed(store))),
    ("an account counts once among those who chatted", |store| Box::pin(used(store))),
    ("a removed character takes everything with it", |store| Box::pin(removed(store))),
    ("lists find words, tags and models, common or rare", |store| Box::pin(listed(store))),
];

fn character(number: u128, name: &str, tags: &[&str]) -> Character {
    Character {
        id: Uuid::from_u128(number),
        slug: name.to_lowercase(),
        name: name.to_owned(),
        description: format!("{name} mends nets"),
        author: "k3x9q".to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        adult: false,
        featured: false,
        pro: false,
        web_enabled: false,
        model: Some(format!("model-{}", number % 2)),
        created: at(i64::try_from(number).unwrap_or(0)),
        updated: at(1),
    }
}

fn content(character: &Character) -> CharacterContent {
    let picture = CharacterPicture { media_type: "image/png".into(), bytes: vec![1, 2, 3] };
    let words = character.words();
    CharacterContent { card: "{}".into(), picture: Some(picture), words }
}

fn add(character: &Character) -> Write {
    CharacterWrite::Add { character: character.clone(), content: content(character) }.into()
}

fn review(number: u8, character: &Character, rating: u8) -> Write {
    let review = Review {
        id: Uuid::from_u128(u128::from(number) << 64 | u128::from(rating)),
        character: character.id,
        owner: owner_id(number),
        rating,
        message: "fine".into(),
        locale: "en".into(),
        username: "abcde".into(),
        created: at(i64::from(rating)),
    };
    CharacterWrite::PutReview(review).into()
}

async fn found(store: &dyn Store) {
    let mara = character(1, "Mara", &["Sea"]);
    done(store, vec![add(&mara)]).await;
    let id = mara.id.to_string();
    for name in ["mara", id.as_str()] {
        let line = store.character(name, None).await.expect("asked").expect("there");
        assert_eq!((line.character, line.imports, line.own_rating), (mara.clone(), 0, None));
    }
    assert_eq!(store.character("nobody", None).await.expect("asked"), None);
    let content = store.character_content(mara.id).await.expect("asked").expect("there");
    assert_eq!(content.card, "{}");
    let picture = store.character_picture("mara").await.expect("asked").expect("there");
    assert_eq!(picture.bytes, [1, 2, 3]);
}

async fn taken(store: &dyn Store) {
    done(store, vec![add(&character(1, "Mara", &[]))]).await;
    let error = refused(store, vec![add(&character(2, "Mara", &[]))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn changed(store: &dyn Store) {
    let mara = character(1, "Mara", &["sea"]);
    done(store, vec![Write::AddOwner(owner(1)), add(&mara), review(1, &mara, 4)]).await;
    let moved =
        Character { tags: vec!["land".into()], description: "sails".into(), ..mara.clone() };
    let content = CharacterContent { card: "[]".into(), picture: None, words: moved.words() };
    done(store, vec![CharacterWrite::Change { character: moved.clone(), content }.into()]).await;
    let line = store.character("mara", Some(owner_id(1))).await.expect("asked").expect("there");
    assert_eq!((line.character, line.rating_sum, line.own_rating), (moved, 4, Some(4)));
    assert!(store.character_picture("mara").await.expect("asked").is_some());
    assert_eq!(names(store, &["mends"], &[]).await, Vec::<String>::new());
    assert_eq!(names(store, &[], &["land"]).await, ["Mara"]);
}

async fn reviewed(store: &dyn Store) {
    let mara = character(1, "Mara", &[]);
    let owners = vec![Write::AddOwner(owner(1)), Write::AddOwner(owner(2)), add(&mara)];
    done(store, owners).await;
    for (number, rating) in [(1, 2), (2, 5), (1, 3)] {
        done(store, vec![review(number, &mara, rating)]).await;
    }
    let line = store.character("mara", None).await.expect("asked").expect("there");
    assert_eq!((line.rating_count, line.rating_sum), (2, 8));
    let page = store.reviews(mara.id, 0, 1).await.expect("asked");
    assert_eq!((page.total, page.reviews.len(), page.reviews[0].rating), (2, 1, 5));
    let page = store.reviews(mara.id, 1, 10).await.expect("asked");
    assert_eq!(page.reviews[0].rating, 3);
    refused(store, vec![review(1, &character(9, "Nobody", &[]), 3)]).await;
    refused(store, vec![review(2, &mara, 6)]).await;
}

async fn used(store: &dyn Store) {
    let mara = character(1, "Mara", &[]);
    done(store, vec![add(&mara)]).await;
    for number in [1, 2, 1] {
        let (character, owner) = (mara.id, owner_id(number));
        done(store, vec![CharacterWrite::NoteUse { character, owner, at: at(1) }.into()]).await;
    }
    let (character, owner) = (Uuid::from_u128(9), owner_id(1));
    done(store, vec![CharacterWrite::NoteUse { character, owner, at: at(1) }.into()]).await;
    let line = store.character("mara", None).await.expect("asked").expect("there");
    assert_eq!(line.imports, 2);
}

async fn removed(store: &dyn Store) {
    let mara = character(1, "Mara", &["sea"]);
    done(store, vec![Write::AddOwner(owner(1)), add(&mara), review(1, &mara, 4)]).await;
    done(store, vec![CharacterWrite::Remove(mara.id).into()]).await;
    assert_eq!(store.character("mara", None).await.expect("asked"), None);
    assert_eq!(store.reviews(mara.id, 0, 9).await.expect("asked").total, 0);
    assert!(names(store, &[], &["sea"]).await.is_empty());
    let error = refused(store, vec![CharacterWrite::Remove(mara.id).into()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    done(store, vec![add(&mara)]).await;
}

/// The names that a list returns, newest first.
async fn names(store: &dyn Store, words: &[&str], tags: &[&str]) -> Vec<String> {
    let own = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
    let query = CharacterQuery {
        adult: false,
        pro: None,
        web_enabled: None,
        tags_any: own(tags),
        tags_all: Vec::new(),
        models: Vec::new(),
        words: own(words),
        sort: CharacterSort::MostRecent,
        ascending: false,
        limit: 3,
        offset: 0,
    };
    let found = store.characters(query, None).await.expect("asked");
    found.into_iter().map(|line| line.character.name).collect()
}

/// More characters than count as rare: common words are found by scanning in sort order.
async fn listed(store: &dyn Store) {
    const COUNT: u128 = 2_100;
    let writes = (1..=COUNT).map(|number| {
        let tags: &[&str] = if number % 700 == 0 { &["Rare", "all"] } else { &["all"] };
        add(&character(number, &format!("N{number}"), tags))
    });
    done(store, writes.collect()).await;
    assert_eq!(names(store, &[], &[]).await, ["N2100", "N2099", "N2098"]);
    assert_eq!(names(store, &["mends"], &[]).await, ["N2100", "N2099", "N2098"]);
    assert_eq!(names(store, &["men", "n20"], &[]).await, ["N2099", "N2098", "N2097"]);
    assert_eq!(names(store, &["n17"], &[]).await, ["N1799", "N1798", "N1797"]);
    assert_eq!(names(store, &[], &["rare"]).await, ["N2100", "N1400", "N700"]);
    assert_eq!(names(store, &["n700"], &["all"]).await, ["N700"]);
    assert_eq!(names(store, &["n7000"], &["all"]).await, Vec::<String>::new());
    for sort in [
        CharacterSort::Featured,
        CharacterSort::HighestRating,
        CharacterSort::HighlyRated,
        CharacterSort::HighlyRatedAndRecent,
        CharacterSort::Imports,
        CharacterSort::RatingCount,
    ] {
        for words in [Vec::new(), vec!["mends".to_owned()], vec!["n7".to_owned()]] {
            let query = CharacterQuery {
                adult: false,
                pro: Some(false),
                web_enabled: Some(false),
                tags_any: vec!["all".into()],
                tags_all: vec!["all".into()],
                models: vec!["model-0".into(), "model-1".into()],
                words,
                sort,
                ascending: true,
                limit: 2,
                offset: 1,
            };
            let count = store.characters(query, Some(owner_id(1))).await.expect("asked").len();
            let is_plain = matches!(
                sort,
                CharacterSort::HighestRating | CharacterSort::Imports | CharacterSort::RatingCount
            );
            assert_eq!(count, if is_plain { 2 } else { 0 }, "{sort:?}");
        }
    }
}
