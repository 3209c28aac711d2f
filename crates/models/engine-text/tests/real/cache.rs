//! Tests that cached prompt tokens are not processed again.

use engine_text::{ChatPrompt, TextPrompt, TextRequest};
use serde_json::{Value, json};

use crate::harness::{ChoiceText, ask, collect, load};

fn conversation(turns: &[(&str, &str)]) -> TextRequest {
    let message = |(role, content): &(&str, &str)| json!({"role": role, "content": content});
    let messages: Vec<Value> = turns.iter().map(message).collect();
    TextRequest {
        prompt: TextPrompt::Chat(ChatPrompt { messages, ..ChatPrompt::default() }),
        ..ask("")
    }
}

#[test]
fn the_next_turn_of_a_conversation_finds_the_earlier_ones() {
    let model = load();
    let run = |request: &TextRequest| -> ChoiceText {
        collect(model.generate(request).unwrap()).remove(0)
    };
    let first = run(&conversation(&[("user", "What is the capital of France?")]));
    assert_eq!(first.usage.cached_tokens, 0);
    let second = run(&conversation(&[
        ("user", "What is the capital of France?"),
        ("assistant", &first.text),
        ("user", "And of Italy?"),
    ]));
    let read_before = first.usage.prompt_tokens + first.usage.completion_tokens;
    assert!(first.usage.prompt_tokens <= second.usage.cached_tokens, "{:?}", second.usage);
    assert!(second.usage.cached_tokens <= read_before, "{:?}", second.usage);
}

#[test]
fn what_is_read_from_the_cache_changes_no_answer() {
    let model = load();
    let run = |request: &TextRequest| -> ChoiceText {
        collect(model.generate(request).unwrap()).remove(0)
    };
    let question = "What is the capital of France? Answer in one sentence.";
    let fresh = run(&ask(question));
    let again = run(&ask(question));
    assert_eq!(again.text, fresh.text);
    assert_eq!(fresh.usage.cached_tokens, 0);
    assert_eq!(again.usage.cached_tokens + 1, again.usage.prompt_tokens);
}

#[test]
fn a_key_finds_its_own_conversation_again() {
    let model = load();
    let run = |request: &TextRequest| -> ChoiceText {
        collect(model.generate(request).unwrap()).remove(0)
    };
    let keyed = |question: &str, key: &str| {
        let mut request = ask(question);
        request.cache_key = Some(key.to_owned());
        request.completion_tokens_max = Some(2);
        request
    };
    run(&keyed("What do bees make, and where do they live?", "bees"));
    run(&keyed("Name three colours.", "colours"));
    let again = run(&keyed("What do bees make, and why?", "bees"));
    assert!(again.usage.prompt_tokens / 2 < again.usage.cached_tokens, "{:?}", again.usage);
}
