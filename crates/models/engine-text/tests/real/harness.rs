//! Loads the model and collects its output.

use std::path::PathBuf;
use std::sync::LazyLock;

use engine_text::{
    ChatPrompt, ChoiceUsage, FinishCause, GenerationEvent, GenerationFormat, LlamaLibrary,
    ModelWeights, SamplingSettings, TextGeneration, TextModel, TextModelSettings, TextPrompt,
    TextRequest, TokenLogprob,
};
use serde_json::json;

const ID: &str = "smollm2-135m";
pub(crate) const CONTEXT_TOKENS: u32 = 1024;

/// One model for all tests of the process.
pub(crate) static MODEL: LazyLock<TextModel> = LazyLock::new(load);

pub(crate) fn load() -> TextModel {
    load_with(4)
}

/// Loads a model with `parallel` slots.
pub(crate) fn load_with(parallel: u32) -> TextModel {
    let settings = TextModelSettings {
        // Threads that wait for each other are slow beside other tests.
        threads: 1,
        adapts_threads: false,
        parallel,
        context_tokens_max: Some(CONTEXT_TOKENS),
        cache_bytes_max: 1 << 30,
    };
    TextModel::start(ModelWeights::open(library(), &file(ID), 0).unwrap(), &settings).unwrap()
}

/// The downloaded llama.cpp library.
pub(crate) fn library() -> &'static LlamaLibrary {
    LlamaLibrary::load(&file("llama-cpp")).unwrap()
}

/// The first file of a manifest entry, in the tests' model folder.
#[expect(clippy::disallowed_methods, reason = "tests are told where the weights are")]
fn file(id: &str) -> PathBuf {
    let folder = std::env::var("TOLLGATE_TEST_MODELS").unwrap_or_else(|_| {
        panic!("set TOLLGATE_TEST_MODELS to a folder with {id}; scripts/test.sh fetches it")
    });
    let folder =
        weights::find_installed_model(folder.as_ref(), id).unwrap_or_else(|it| panic!("{it}"));
    folder.join(&weights::embedded_manifest().find_model(id).unwrap().files[0].name)
}

/// A request for a greedy answer of at most 48 tokens.
pub(crate) fn ask(question: &str) -> TextRequest {
    let messages = vec![json!({"role": "user", "content": question})];
    TextRequest {
        prompt: TextPrompt::Chat(ChatPrompt { messages, ..ChatPrompt::default() }),
        completion_tokens_max: Some(48),
        sampling: SamplingSettings { temperature: Some(0.0), ..SamplingSettings::default() },
        stop: Vec::new(),
        stop_token_ids: Vec::new(),
        choices: 1,
        logprobs: None,
        format: GenerationFormat::Text,
        cache_key: None,
        seed: 1,
        now_s: 1_790_000_000,
    }
}

/// The collected result of one choice.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ChoiceText {
    pub(crate) text: String,
    pub(crate) pieces: usize,
    pub(crate) logprobs: Vec<TokenLogprob>,
    pub(crate) finish: Option<FinishCause>,
    pub(crate) stop_match: Option<String>,
    pub(crate) usage: ChoiceUsage,
}

pub(crate) fn answer(request: &TextRequest) -> ChoiceText {
    collect(MODEL.generate(request).unwrap()).remove(0)
}

/// All choices, in order.
pub(crate) fn collect(mut generation: TextGeneration) -> Vec<ChoiceText> {
    let mut answers: Vec<ChoiceText> = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    while let Some(event) = runtime.block_on(generation.next()) {
        let (GenerationEvent::Text { choice, .. }
        | GenerationEvent::ToolCall { choice, .. }
        | GenerationEvent::Finished { choice, .. }) = &event
        else {
            panic!("{event:?}");
        };
        let index = usize::try_from(*choice).unwrap();
        if answers.len() <= index {
            answers.resize_with(index + 1, ChoiceText::default);
        }
        let answer = &mut answers[index];
        match event {
            GenerationEvent::Text { text, logprobs, .. } => {
                answer.text.push_str(&text);
                answer.pieces += 1;
                answer.logprobs.extend(logprobs);
            }
            GenerationEvent::Finished { finish, usage, stop_match, .. } => {
                assert_eq!(answer.finish.replace(finish), None, "a choice ends once");
                answer.usage = usage;
                answer.stop_match = stop_match;
            }
            other => panic!("{other:?}"),
        }
    }
    answers
}
