//! Tests of generated text and of the ways an answer ends.

use engine_text::{FinishCause, SamplingSettings, TextPrompt};

use crate::harness::{MODEL, answer, ask, collect, load};

const CAPITAL: &str = "What is the capital of France? Answer in one sentence.";

#[test]
fn it_answers_a_question() {
    let answer = answer(&ask(CAPITAL));
    assert!(answer.text.contains("Paris"), "{}", answer.text);
    assert_eq!(answer.finish, Some(FinishCause::Stop));
    assert!(1 < answer.pieces, "it is told as it is written");
}

#[test]
fn a_text_is_continued_without_a_template() {
    let prompt = TextPrompt::Text("One, two, three, four,".to_owned());
    let answer = answer(&engine_text::TextRequest { prompt, ..ask("") });
    assert!(answer.text.trim_start().starts_with("five"), "{}", answer.text);
}

#[test]
fn an_answer_ends_at_the_most_tokens_and_counts_them() {
    let mut request = ask("Count from one to one hundred.");
    request.completion_tokens_max = Some(7);
    let answer = answer(&request);
    assert_eq!(answer.finish, Some(FinishCause::Length));
    assert_eq!(answer.usage.completion_tokens, 7);
}

#[test]
fn a_prompt_is_counted_as_it_is_charged() {
    let request = ask(CAPITAL);
    let model = load();
    let counted = model.count_prompt(&request).unwrap();
    let answer = collect(model.generate(&request).unwrap()).remove(0);
    assert_eq!(counted, answer.usage.prompt_tokens);
}

#[test]
fn a_stop_ends_the_answer_before_itself() {
    let whole = answer(&ask(CAPITAL));
    let mut request = ask(CAPITAL);
    request.stop = vec!["France is Par".to_owned()];
    let cut = answer(&request);
    let expected = whole.text.split("France is Par").next().unwrap();
    assert_ne!(expected, whole.text, "the answer has the stop in it");
    assert_eq!(cut.text, expected);
    assert_eq!(cut.finish, Some(FinishCause::Stop));
    assert_eq!(cut.stop_match.as_deref(), Some("France is Par"));
    assert!(cut.usage.completion_tokens < whole.usage.completion_tokens);
}

#[test]
fn a_stop_token_ends_the_answer_and_is_not_shown() {
    let mut request = ask(CAPITAL);
    // `.` in this vocabulary.
    request.stop_token_ids = vec![30];
    let cut = answer(&request);
    assert!(!cut.text.contains('.'), "{}", cut.text);
    assert_eq!(cut.finish, Some(FinishCause::Stop));
}

#[test]
fn equal_seeds_write_equal_answers() {
    let mut request = ask("Tell me a story.");
    request.sampling = SamplingSettings { temperature: Some(1.0), ..SamplingSettings::default() };
    // From here on the prompt is cached. A batch of another shape rounds differently, which can
    // change a sample.
    answer(&request);
    let first = answer(&request).text;
    assert_eq!(answer(&request).text, first);
    request.seed = 2;
    assert_ne!(answer(&request).text, first);
}

#[test]
fn several_choices_differ_and_end_each_for_itself() {
    let mut request = ask("Tell me a story.");
    request.sampling = SamplingSettings { temperature: Some(1.0), ..SamplingSettings::default() };
    request.choices = 3;
    let answers = collect(MODEL.generate(&request).unwrap());
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().all(|answer| answer.finish.is_some()));
    assert_ne!(answers[0].text, answers[1].text);
    assert_ne!(answers[1].text, answers[2].text);
}

#[test]
fn the_likelihood_of_every_token_is_told() {
    let mut request = ask(CAPITAL);
    request.logprobs = Some(3);
    let answer = answer(&request);
    let written: Vec<u8> =
        answer.logprobs.iter().flat_map(|it| it.token.bytes.iter().copied()).collect();
    assert_eq!(String::from_utf8(written).unwrap(), answer.text);
    for token in &answer.logprobs {
        assert_eq!(token.alternatives.len(), 3);
        assert!(token.token.logprob <= 0.0);
        // Decoding is greedy, so the generated token is the most likely one.
        assert_eq!(token.token, token.alternatives[0]);
    }
}

#[test]
fn penalties_keep_it_from_repeating_itself() {
    let repeats = |sampling| {
        let mut request = ask("");
        // A list that continues the same way on every CPU.
        request.prompt = TextPrompt::Text(format!("{}-", "- cat\n".repeat(12)));
        request.sampling = SamplingSettings { temperature: Some(0.0), ..sampling };
        answer(&request).text.matches("cat").count()
    };
    let plain = repeats(SamplingSettings::default());
    let penalised =
        repeats(SamplingSettings { frequency_penalty: Some(2.0), ..SamplingSettings::default() });
    assert!(penalised < plain, "{penalised} of {plain}");
}
