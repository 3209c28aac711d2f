//! A running model: accepts requests and returns generated events.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use llama::TokenId;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::choice_generator::ChoiceGenerator;
use crate::constraint::GrammarConstraint;
use crate::event::GenerationEvent;
use crate::refusal::TextRefusal;
use crate::request::{
    ChatPrompt, GenerationFormat, PromptTool, TextPrompt, TextRequest, ToolCallPolicy,
};
use crate::scheduler::{self, ChoiceTask};
use crate::weights::{LoadError, ModelWeights, TextModelSettings, token_number};

/// Maximum queued choices. With more, the wait would be minutes.
const WAITING_MAX: usize = 64;
/// As many as OpenAI's own clients request.
pub const CHOICES_MAX: u32 = 8;
/// OpenAI's limit.
pub const LOGPROBS_MAX: u32 = 20;

#[derive(Debug)]
pub struct TextModel {
    weights: Arc<ModelWeights>,
    /// `None` tells the thread to end.
    tasks: Option<Sender<ChoiceTask>>,
    thread: Option<JoinHandle<()>>,
    room: Arc<Semaphore>,
    context_tokens: u32,
    memory_bytes: u64,
}

/// A generation in progress. Dropping it cancels the work within one token.
#[derive(Debug)]
pub struct TextGeneration {
    /// Unbounded, but a generation cannot produce more events than its context has tokens.
    events: UnboundedReceiver<GenerationEvent>,
    pub prompt_tokens: u32,
}

impl TextGeneration {
    /// The next event; `None` when all choices have finished.
    pub async fn next(&mut self) -> Option<GenerationEvent> {
        self.events.recv().await
    }
}

impl TextModel {
    /// Allocates the memory and starts the model's thread.
    pub fn start(
        weights: ModelWeights,
        settings: &TextModelSettings,
    ) -> Result<TextModel, LoadError> {
        let weights = Arc::new(weights);
        let context_tokens = weights.context_tokens(settings)?;
        let memory_bytes = weights.memory_bytes(settings)?;
        let (tasks, queue) = mpsc::channel();
        let thread =
            scheduler::start_scheduler(Arc::clone(&weights), settings, context_tokens, queue)?;
        let parallel = usize::try_from(settings.parallel).unwrap_or(1);
        let room = Arc::new(Semaphore::new(parallel + WAITING_MAX));
        Ok(TextModel {
            weights,
            tasks: Some(tasks),
            thread: Some(thread),
            room,
            context_tokens,
            memory_bytes,
        })
    }

    pub fn context_tokens(&self) -> u32 {
        self.context_tokens
    }

    /// Layers on GPUs and total layers, including the output layer.
    pub fn gpu_layers(&self) -> (u32, u32) {
        let model = &self.weights.model;
        let all = model.layers() + 1;
        (model.gpu_layers().min(all), all)
    }

    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    /// True if the model's thread has ended, which it does only by a panic. The model accepts no
    /// requests any more.
    pub fn is_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Tokenizes the prompt and passes it to the model's thread. Blocks for a while if the prompt
    /// is long, so call it on a blocking thread.
    pub fn generate(&self, request: &TextRequest) -> Result<TextGeneration, TextRefusal> {
        check_request(request)?;
        let prompt = self.tokenize_prompt(request)?;
        let prompt_tokens = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        if self.context_tokens <= prompt_tokens {
            let context_tokens = self.context_tokens;
            return Err(TextRefusal::ContextOverflow { context_tokens, prompt_tokens });
        }
        let constraint = self.build_constraints(request)?;
        let (sender, events) = unbounded_channel();
        // Admits all choices or none: an incomplete answer is useless.
        let room = Arc::clone(&self.room).try_acquire_many_owned(request.choices);
        let mut room = room.map_err(|_| TextRefusal::Overloaded)?;
        for choice in 0..request.choices {
            let writer = self.build_generator(request, &prompt, choice, &sender, &constraint);
            let task = ChoiceTask {
                prompt: prompt.clone(),
                cache_key: request.cache_key.clone(),
                writer,
                _room: room.split(1).ok_or(TextRefusal::Overloaded)?,
            };
            let tasks = self.tasks.as_ref().ok_or(TextRefusal::Stopped)?;
            tasks.send(task).map_err(|_| TextRefusal::Stopped)?;
        }
        Ok(TextGeneration { events, prompt_tokens })
    }

    /// The tokens of the prompt. Blocks for a while if it is long, like [`TextModel::generate`].
    pub fn count_prompt(&self, request: &TextRequest) -> Result<u32, TextRefusal> {
        check_request(request)?;
        let prompt = self.tokenize_prompt(request)?;
        Ok(u32::try_from(prompt.len()).unwrap_or(u32::MAX))
    }

    fn tokenize_prompt(&self, request: &TextRequest) -> Result<Vec<TokenId>, TextRefusal> {
        let weights = &self.weights;
        let tokens = match &request.prompt {
            TextPrompt::Text(text) => weights.tokens_of(text),
            TextPrompt::Middle { before, after } => {
                weights.tokens_around(before, after).ok_or_else(|| {
                    TextRefusal::invalid(
                        "suffix",
                        "This model was not trained to fill in a middle.",
                    )
                })?
            }
            TextPrompt::Chat(chat) => weights
                .tokens_of(&weights.template.render(&hide_unusable_tools(chat), request.now_s)?),
        };
        if tokens.is_empty() {
            return Err(TextRefusal::invalid(
                "prompt",
                "The prompt is empty. Send at least one word.",
            ));
        }
        Ok(tokens)
    }

    fn build_generator(
        &self,
        request: &TextRequest,
        prompt: &[TokenId],
        choice: u32,
        events: &UnboundedSender<GenerationEvent>,
        constraint: &AnswerConstraints,
    ) -> ChoiceGenerator {
        let prompt: Vec<u32> = prompt.iter().copied().map(token_number).collect();
        let room = self.context_tokens.saturating_sub(u32::try_from(prompt.len()).unwrap_or(0));
        let tokens_max = request.completion_tokens_max.map_or(room, |most| most.min(room));
        ChoiceGenerator::new(choice, request, &prompt, tokens_max)
            .with_events(events.clone())
            .with_constraints(constraint)
    }

    fn build_constraints(&self, request: &TextRequest) -> Result<AnswerConstraints, TextRefusal> {
        let calls = match &request.prompt {
            TextPrompt::Chat(chat) => self.build_call_constraints(chat)?,
            TextPrompt::Text(_) | TextPrompt::Middle { .. } => AnswerConstraints::default(),
        };
        if calls.whole.is_some() {
            return Ok(calls);
        }
        let any_object = serde_json::json!({"type": "object"});
        let schema = match &request.format {
            GenerationFormat::Text => return Ok(calls),
            GenerationFormat::JsonObject => &any_object,
            GenerationFormat::JsonSchema(schema) => schema,
        };
        let whole = match &request.prompt {
            TextPrompt::Chat(chat) if calls.has_calls => {
                let tools: Vec<&PromptTool> = chat.tools.iter().collect();
                self.grammars()?.calls_or_json(&tools, chat.is_one_call_enough, schema)?
            }
            _ => self.grammars()?.json_schema(schema)?,
        };
        Ok(AnswerConstraints {
            whole: Some(whole),
            each_call: None,
            bare_names: Vec::new(),
            ..calls
        })
    }

    fn build_call_constraints(&self, chat: &ChatPrompt) -> Result<AnswerConstraints, TextRefusal> {
        if chat.tools.is_empty() || chat.tool_choice == ToolCallPolicy::None {
            return Ok(AnswerConstraints::default());
        }
        if !self.weights.has_tool_calls() {
            return Err(TextRefusal::invalid("tools", "This model was not trained to call tools."));
        }
        let all: Vec<&PromptTool> = chat.tools.iter().collect();
        let is_one = chat.is_one_call_enough;
        let grammars = self.grammars()?;
        let whole = match &chat.tool_choice {
            ToolCallPolicy::Required => Some(grammars.tool_calls(&all, is_one)?),
            ToolCallPolicy::Function(name) => {
                Some(grammars.tool_calls(&[find_tool(chat, name)?], true)?)
            }
            ToolCallPolicy::Auto | ToolCallPolicy::None => None,
        };
        let each = if whole.is_some() { None } else { Some(grammars.rest_of_call(&all)?) };
        let names = all.iter().map(|tool| tool.name.clone());
        let bare_names = if each.is_some() { names.collect() } else { Vec::new() };
        let is_one_call_enough = is_one;
        Ok(AnswerConstraints {
            whole,
            each_call: each,
            has_calls: true,
            bare_names,
            is_one_call_enough,
        })
    }

    fn grammars(&self) -> Result<&crate::constraint::GrammarCompiler, TextRefusal> {
        self.weights.grammars().map_err(|cause| {
            TextRefusal::invalid(
                "response_format",
                format!("This model cannot be constrained: {cause}"),
            )
        })
    }
}

impl Drop for TextModel {
    /// Waits for the thread, so that its memory is free afterwards; the next model may need it.
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // Fails only if the thread panicked.
            let _ = thread.join();
        }
    }
}

/// The constraints on an answer.
#[derive(Debug, Default)]
pub(crate) struct AnswerConstraints {
    /// Applies from the first token to the last.
    pub(crate) whole: Option<GrammarConstraint>,
    /// Applies from the start of a call to its end.
    pub(crate) each_call: Option<GrammarConstraint>,
    /// Set if the answer may contain calls, which must be separated from its text.
    pub(crate) has_calls: bool,
    /// Tools whose calls are also recognised without tags.
    pub(crate) bare_names: Vec<String>,
    pub(crate) is_one_call_enough: bool,
}

fn check_request(request: &TextRequest) -> Result<(), TextRefusal> {
    if request.choices == 0 || CHOICES_MAX < request.choices {
        return Err(TextRefusal::invalid("n", format!("Ask for 1 to {CHOICES_MAX} choices.")));
    }
    if request.logprobs.is_some_and(|few| LOGPROBS_MAX < few) {
        let message = format!("Ask for at most {LOGPROBS_MAX} alternatives.");
        return Err(TextRefusal::invalid("top_logprobs", message));
    }
    if request.completion_tokens_max == Some(0) {
        return Err(TextRefusal::invalid("max_tokens", "Ask for at least one token."));
    }
    Ok(())
}

/// Removes the tools from the prompt if the model may not call them.
fn hide_unusable_tools(chat: &ChatPrompt) -> std::borrow::Cow<'_, ChatPrompt> {
    if chat.tool_choice == ToolCallPolicy::None && !chat.tools.is_empty() {
        return std::borrow::Cow::Owned(ChatPrompt { tools: Vec::new(), ..chat.clone() });
    }
    std::borrow::Cow::Borrowed(chat)
}

fn find_tool<'a>(chat: &'a ChatPrompt, name: &str) -> Result<&'a PromptTool, TextRefusal> {
    chat.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        TextRefusal::invalid("tool_choice", format!("There is no tool {name} among the tools."))
    })
}
