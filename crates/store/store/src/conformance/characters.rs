//! Characters, reviews and uses: counters are exact, and lists find the right characters.

use uuid::Uuid;

use crate::Store;
use crate::character::{
    CharacterContent, CharacterPicture, CharacterQuery, CharacterReview, CharacterSort,
    CharacterWrite, StoredCharacter,
};
use crate::conformance::CaseTable;
use crate::conformance::fixture::{build_owner, commit_writes, expect_refusal, owner_id, today_at};
use crate::error::StoreError;
use crate::write::StoreWrite;

pub(crate) const CASES: CaseTable = &[
    ("a character is found by its slug and its id", |store| Box::pin(check_lookup(store))),
    ("a second character of the same slug is a duplicate", |store| {
        Box::pin(check_duplicate_slug(store))
    }),
    ("a changed character keeps its numbers and its picture", |store| {
        Box::pin(check_change(store))
    }),
    ("an account has one review, and the sums follow it", |store| Box::pin(check_reviews(store))),
    ("an account counts once among those who chatted", |store| Box::pin(check_use_count(store))),
    ("a removed character takes everything with it", |store| Box::pin(check_removal(store))),
    ("lists find words, tags and models, common or rare", |store| Box::pin(check_lists(store))),
];

fn build_character(number: u128, name: &str, tags: &[&str]) -> StoredCharacter {
    StoredCharacter {
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
        created: today_at(i64::try_from(number).unwrap_or(0)),
        updated: today_at(1),
    }
}

fn build_content(character: &StoredCharacter) -> CharacterContent {
    let picture = CharacterPicture { media_type: "image/png".into(), bytes: vec![1, 2, 3] };
    let words = character.search_words();
    CharacterContent { card: "{}".into(), picture: Some(picture), words }
}

fn add_character(character: &StoredCharacter) -> StoreWrite {
    CharacterWrite::Add { character: character.clone(), content: build_content(character) }.into()
}

fn put_review(number: u8, character: &StoredCharacter, rating: u8) -> StoreWrite {
    let review = CharacterReview {
        id: Uuid::from_u128(u128::from(number) << 64 | u128::from(rating)),
        character: character.id,
        owner: owner_id(number),
        rating,
        message: "fine".into(),
        locale: "en".into(),
        username: "abcde".into(),
        created: today_at(i64::from(rating)),
    };
    CharacterWrite::PutReview(review).into()
}

async fn check_lookup(store: &dyn Store) {
    let mara = build_character(1, "Mara", &["Sea"]);
    commit_writes(store, vec![add_character(&mara)]).await;
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

async fn check_duplicate_slug(store: &dyn Store) {
    commit_writes(store, vec![add_character(&build_character(1, "Mara", &[]))]).await;
    let error = expect_refusal(store, vec![add_character(&build_character(2, "Mara", &[]))]).await;
    assert!(matches!(error, StoreError::Duplicate(_)), "{error}");
}

async fn check_change(store: &dyn Store) {
    let mara = build_character(1, "Mara", &["sea"]);
    commit_writes(
        store,
        vec![StoreWrite::AddOwner(build_owner(1)), add_character(&mara), put_review(1, &mara, 4)],
    )
    .await;
    let moved =
        StoredCharacter { tags: vec!["land".into()], description: "sails".into(), ..mara.clone() };
    let content =
        CharacterContent { card: "[]".into(), picture: None, words: moved.search_words() };
    commit_writes(store, vec![CharacterWrite::Change { character: moved.clone(), content }.into()])
        .await;
    let line = store.character("mara", Some(owner_id(1))).await.expect("asked").expect("there");
    assert_eq!((line.character, line.rating_sum, line.own_rating), (moved, 4, Some(4)));
    assert!(store.character_picture("mara").await.expect("asked").is_some());
    assert_eq!(list_names(store, &["mends"], &[]).await, Vec::<String>::new());
    assert_eq!(list_names(store, &[], &["land"]).await, ["Mara"]);
}

async fn check_reviews(store: &dyn Store) {
    let mara = build_character(1, "Mara", &[]);
    let owners = vec![
        StoreWrite::AddOwner(build_owner(1)),
        StoreWrite::AddOwner(build_owner(2)),
        add_character(&mara),
    ];
    commit_writes(store, owners).await;
    for (number, rating) in [(1, 2), (2, 5), (1, 3)] {
        commit_writes(store, vec![put_review(number, &mara, rating)]).await;
    }
    let line = store.character("mara", None).await.expect("asked").expect("there");
    assert_eq!((line.rating_count, line.rating_sum), (2, 8));
    let page = store.read_reviews(mara.id, 0, 1).await.expect("asked");
    assert_eq!((page.total, page.reviews.len(), page.reviews[0].rating), (2, 1, 5));
    let page = store.read_reviews(mara.id, 1, 10).await.expect("asked");
    assert_eq!(page.reviews[0].rating, 3);
    expect_refusal(store, vec![put_review(1, &build_character(9, "Nobody", &[]), 3)]).await;
    expect_refusal(store, vec![put_review(2, &mara, 6)]).await;
}

async fn check_use_count(store: &dyn Store) {
    let mara = build_character(1, "Mara", &[]);
    commit_writes(store, vec![add_character(&mara)]).await;
    for number in [1, 2, 1] {
        let (character, owner) = (mara.id, owner_id(number));
        commit_writes(
            store,
            vec![CharacterWrite::NoteUse { character, owner, at: today_at(1) }.into()],
        )
        .await;
    }
    let (character, owner) = (Uuid::from_u128(9), owner_id(1));
    commit_writes(
        store,
        vec![CharacterWrite::NoteUse { character, owner, at: today_at(1) }.into()],
    )
    .await;
    let line = store.character("mara", None).await.expect("asked").expect("there");
    assert_eq!(line.imports, 2);
}

async fn check_removal(store: &dyn Store) {
    let mara = build_character(1, "Mara", &["sea"]);
    commit_writes(
        store,
        vec![StoreWrite::AddOwner(build_owner(1)), add_character(&mara), put_review(1, &mara, 4)],
    )
    .await;
    commit_writes(store, vec![CharacterWrite::Remove(mara.id).into()]).await;
    assert_eq!(store.character("mara", None).await.expect("asked"), None);
    assert_eq!(store.read_reviews(mara.id, 0, 9).await.expect("asked").total, 0);
    assert!(list_names(store, &[], &["sea"]).await.is_empty());
    let error = expect_refusal(store, vec![CharacterWrite::Remove(mara.id).into()]).await;
    assert!(matches!(error, StoreError::Missing(_)), "{error}");
    commit_writes(store, vec![add_character(&mara)]).await;
}

/// The names that a list returns, newest first.
async fn list_names(store: &dyn Store, words: &[&str], tags: &[&str]) -> Vec<String> {
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
    let found = store.list_characters(query, None).await.expect("asked");
    found.into_iter().map(|line| line.character.name).collect()
}

/// More characters than count as rare: common words are found by scanning in sort order.
async fn check_lists(store: &dyn Store) {
    const COUNT: u128 = 2_100;
    let writes = (1..=COUNT).map(|number| {
        let tags: &[&str] = if number % 700 == 0 { &["Rare", "all"] } else { &["all"] };
        add_character(&build_character(number, &format!("N{number}"), tags))
    });
    commit_writes(store, writes.collect()).await;
    assert_eq!(list_names(store, &[], &[]).await, ["N2100", "N2099", "N2098"]);
    assert_eq!(list_names(store, &["mends"], &[]).await, ["N2100", "N2099", "N2098"]);
    assert_eq!(list_names(store, &["men", "n20"], &[]).await, ["N2099", "N2098", "N2097"]);
    assert_eq!(list_names(store, &["n17"], &[]).await, ["N1799", "N1798", "N1797"]);
    assert_eq!(list_names(store, &[], &["rare"]).await, ["N2100", "N1400", "N700"]);
    assert_eq!(list_names(store, &["n700"], &["all"]).await, ["N700"]);
    assert_eq!(list_names(store, &["n7000"], &["all"]).await, Vec::<String>::new());
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
            let count = store.list_characters(query, Some(owner_id(1))).await.expect("asked").len();
            let is_plain = matches!(
                sort,
                CharacterSort::HighestRating | CharacterSort::Imports | CharacterSort::RatingCount
            );
            assert_eq!(count, if is_plain { 2 } else { 0 }, "{sort:?}");
        }
    }
}
