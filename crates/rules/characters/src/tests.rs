//! Tests of cards in every version and file format, personas, lorebooks, and the shipped
//! characters.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn v2() -> Value {
    json!({"spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Mara", "description": "{{char}} mends nets.", "personality": "Calm.",
        "scenario": "A pier with {{USER}}.", "first_mes": "Hello, {{user}}.", "mes_example": "",
        "creator_notes": "A fisher.\n\nMore.", "system_prompt": "{{original}} Be {{char}}.",
        "post_history_instructions": "Stay {{Char}}.", "alternate_greetings": ["Hi."],
        "tags": ["sea", "calm"], "creator": "Somebody", "character_version": "2",
        "extensions": {"other/program": {"a": [1, 2]}, "tollgate": {"model": "qwen", "web": true}},
        "character_book": {"extensions": {}, "entries": [
            {"keys": ["Storm"], "content": "Storms come from the west.", "extensions": {},
             "enabled": true, "insertion_order": 2},
            {"keys": ["boat"], "content": "Her boat is red.", "extensions": {},
             "enabled": true, "insertion_order": 1},
            {"keys": ["boat"], "content": "Never told.", "extensions": {},
             "enabled": false, "insertion_order": 0},
        ]},
    }})
}

fn chunk(kind: &[u8], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [length.as_slice(), kind, data, &[0; 4]].concat()
}

fn png(texts: &[(&str, &Value)]) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.extend(chunk(b"IHDR", &[0; 13]));
    for (key, card) in texts {
        let text = format!("{key}\0{}", BASE64_STANDARD.encode(card.to_string()));
        png.extend(chunk(b"tEXt", text.as_bytes()));
    }
    png.extend(chunk(b"IDAT", b"pixels"));
    png.extend(chunk(b"IEND", b""));
    png
}

#[test]
fn cards_of_all_versions_are_read() {
    let v1 = json!({"name": "Old", "description": "x", "personality": "", "scenario": "",
        "first_mes": "Hi", "mes_example": ""});
    let (card, picture) = read_card_file(v1.to_string().as_bytes()).unwrap();
    assert_eq!(
        (card.name.as_str(), card.greetings.as_slice(), picture),
        ("Old", &["Hi".to_owned()][..], None)
    );
    let mut v3 = v2();
    v3["spec"] = json!("chara_card_v3");
    v3["data"]["nickname"] = json!("Mo");
    let (card, _) = read_card_file(v3.to_string().as_bytes()).unwrap();
    assert!(card.build_prompts(&[], None, "").system_prompt.contains("Mo mends nets."));
}

#[test]
fn a_picture_gives_its_newer_card_and_keeps_only_what_is_seen() {
    let mut newer = v2();
    newer["data"]["name"] = json!("Newer");
    let (card, picture) = read_card_file(&png(&[("chara", &v2()), ("ccv3", &newer)])).unwrap();
    assert_eq!(card.name, "Newer");
    let picture = picture.unwrap();
    assert_eq!(picture.media_type, "image/png");
    assert!(!picture.bytes.windows(4).any(|it| it == b"tEXt"), "no text is left in it");
    assert!(picture.bytes.windows(6).any(|it| it == b"pixels"));
}

#[test]
fn an_archive_gives_its_card_and_portrait() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    archive.start_file("card.json", options).unwrap();
    archive.write_all(v2().to_string().as_bytes()).unwrap();
    archive.start_file("assets/icon/images/main.png", options).unwrap();
    archive.write_all(&png(&[])).unwrap();
    let (card, picture) = read_card_file(archive.finish().unwrap().get_ref()).unwrap();
    assert_eq!((card.name.as_str(), picture.unwrap().media_type), ("Mara", "image/png"));
}

#[test]
fn what_is_no_card_is_told() {
    let empty = json!({"name": "x"}).to_string();
    let nameless = json!({"description": "x"}).to_string();
    let cut = &png(&[("chara", &v2())])[..60];
    for bytes in
        [b"".as_slice(), b"{}", b"[]", empty.as_bytes(), nameless.as_bytes(), cut, &png(&[])]
    {
        assert!(read_card_file(bytes).is_err(), "{bytes:?}");
    }
    let long = json!({"name": "x", "description": "y".repeat(200_000)});
    assert_eq!(read_card_file(long.to_string().as_bytes()), Err(CardFault::TooLong("text")));
}

#[test]
fn what_others_wrote_into_a_card_survives() {
    let (card, _) = read_card_file(v2().to_string().as_bytes()).unwrap();
    let again = CharacterCard::parse(&card.to_v2().to_string()).unwrap();
    assert_eq!(again, card);
    assert_eq!(card.to_v2(), v2());
}

#[test]
fn a_persona_is_told_first_and_by_name() {
    let (card, _) = read_card_file(v2().to_string().as_bytes()).unwrap();
    let persona = card.build_prompts(&["A storm and a BOAT!"], Some("Ida"), "Answer well.");
    let prompt = &persona.system_prompt;
    assert!(prompt.starts_with("Answer well. Be Mara."), "{prompt}");
    assert!(prompt.contains("A pier with Ida."), "{prompt}");
    let boat = prompt.find("Her boat is red.").unwrap();
    assert!(boat < prompt.find("Storms come").unwrap(), "in the book's order: {prompt}");
    for never in ["Never told", "A fisher", "Somebody", "{{", "sea"] {
        assert!(!prompt.contains(never), "{never} in {prompt}");
    }
    assert_eq!(persona.last_words, "Stay Mara.");
    assert!(!card.build_prompts(&["hi"], None, "").system_prompt.contains("Storms"));
}

#[test]
fn a_lorebook_keeps_to_its_budget() {
    let mut card = v2();
    card["data"]["character_book"]["token_budget"] = json!(8);
    let (card, _) = read_card_file(card.to_string().as_bytes()).unwrap();
    let prompt = card.build_prompts(&["storm boat"], None, "").system_prompt;
    assert_eq!(prompt.matches("boat is red").count() + prompt.matches("Storms come").count(), 1);
}

#[test]
fn marks_in_names_are_not_replaced_again() {
    let mut card = v2();
    card["data"]["name"] = json!("{{user}}");
    let (card, _) = read_card_file(card.to_string().as_bytes()).unwrap();
    let prompt = card.build_prompts(&[], Some("{{char}}{{char}}"), "").system_prompt;
    assert!(prompt.len() < 500, "{prompt}");
}

#[test]
fn words_and_slugs_are_plain() {
    assert_eq!(to_slug("Dr. Ünal's  Café!"), "dr-nal-s-caf");
    assert_eq!(to_slug("日本"), "character");
    assert_eq!(list_words(["The Sea", "sea-side"].into_iter()), ["sea", "side", "the"]);
    assert_eq!(
        search_terms("#Calm Sea!"),
        [SearchTerm::Tag("calm".to_owned()), SearchTerm::Word("sea".to_owned())]
    );
    assert_eq!(anonymize_author("Somebody"), anonymize_author(" somebody "));
    assert_eq!(anonymize_author("Somebody").len(), 5);
}

#[test]
fn twenty_four_characters_come_with_us() {
    let shipped = list_built_in_characters().unwrap();
    assert_eq!(shipped.len(), 24);
    let mut slugs: Vec<&str> = shipped.iter().map(|it| it.slug.as_str()).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), 24);
    for it in &shipped {
        let CharacterCard { name, greetings, tags, .. } = &it.card;
        assert!(!it.card.is_adult() && greetings.len() == 3 && !tags.is_empty(), "{name}");
        assert!(it.portrait.starts_with("<svg") && it.portrait.len() < 4_000, "{name}");
    }
}
