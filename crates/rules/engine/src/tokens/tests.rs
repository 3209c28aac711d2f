//! Tests of the estimate, also against counts taken from real vocabularies.

use proptest::prelude::*;

use super::*;

/// `exact` is the mean token count of the text in the o200k and cl100k vocabularies.
#[track_caller]
fn check(text: &str, exact: u64) {
    let estimate = text_tokens(text);
    let slack = exact.div_ceil(5);
    assert!(
        exact - slack <= estimate && estimate <= exact + slack,
        "{estimate} tokens for {text:?}, the vocabularies say {exact}"
    );
}

#[test]
fn common_texts_are_within_a_fifth_of_real_vocabularies() {
    check(ENGLISH, 77);
    check(CODE, 68);
    check(CHINESE, 39);
}

#[test]
fn nothing_is_nothing_and_anything_is_something() {
    assert_eq!(text_tokens(""), 0);
    for text in [" ", "a", "\n", ".", "7", "é", "ж", "字", "한", "🦀", "\0"] {
        assert!(0 < text_tokens(text), "{text:?} counts as nothing");
    }
}

#[test]
fn a_prompt_counts_its_pictures_and_tools_too() {
    let picture = PartKind::Image { url: "data:,".to_owned(), detail: None };
    let content = ChatContent::Parts(vec![ChatContentPart { kind: picture, cache: None }]);
    let request = ChatRequest {
        messages: vec![ChatMessage::User { content, name: None }],
        tools: vec![crate::ChatTool {
            name: "look".to_owned(),
            description: None,
            parameters: None,
            strict: None,
        }],
        ..ChatRequest::default()
    };
    assert_eq!(prompt_tokens(&request), IMAGE_TOKENS + 2 * MESSAGE_TOKENS + 1);
}

proptest! {
    #[test]
    fn how_a_text_is_cut_changes_nothing(pieces in prop::collection::vec(".{0,12}", 0..8)) {
        let mut meter = TokenEstimator::default();
        for piece in &pieces {
            meter.push(piece);
        }
        prop_assert_eq!(meter.estimated_tokens(), text_tokens(&pieces.concat()));
    }

    /// Reference: the rule applied character by character.
    #[test]
    fn ascii_counts_as_any_text_does(text in "[ -~\\n]{0,60}") {
        let mut meter = TokenEstimator::default();
        for character in text.chars() {
            meter.push_class(CharacterClass::from_char(character));
        }
        prop_assert_eq!(meter.estimated_tokens(), text_tokens(&text));
    }

    #[test]
    fn more_text_is_never_fewer_tokens(text in ".{0,40}", more in ".{0,40}") {
        let longer = text.clone() + &more;
        prop_assert!(text_tokens(&text) <= text_tokens(&longer));
    }
}

const ENGLISH: &str = "A request reads as one sentence everywhere: the caller is admitted, the \
    body is checked, the price is quoted, the money is held, the engine works, the charge is \
    settled and the reply is sent. From the hold on, the work runs in a task of its own that \
    outlives the connection, so that a client that hangs up still pays for what was produced.";

const CODE: &str = "fn credible(tokens: f64, what: &'static str) -> Result<u64, NotCredible> {\n    \
    let is_possible = tokens.is_finite() && tokens.fract() == 0.0;\n    \
    if is_possible { Ok(tokens as u64) } else { Err(NotCredible { what }) }\n}\n";

const CHINESE: &str = "请求进入服务以后，系统会先检查调用者的身份和余额，然后把请求交给模型处理，\
    最后按照实际使用的数量收费。";
