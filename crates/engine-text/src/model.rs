//! A running model: accepts requests and returns generated events.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use llama::Token;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::constraint::Constraint;
use crate::event::Event;
use crate::refusal::Refusal;
use crate::request::{Chat, Format, Prompt, Request, Tool, ToolChoice};
use crate::scheduler::{self, ChoiceTask};
use crate::weights::{LoadError, Settings, Weights, number_of};
use crate::writer::Writer;

/// Maximum queued choices. With more, the wait would be minutes.
const WAITING_MAX: usize = 64;
/// As many as OpenAI's own clients request.
pub const CHOICES_MAX: u32 = 8;
/// OpenAI's limit.
pub const LOGPROBS_MAX: u32 = 20;

#[derive(Debug)]
pub struct TextModel {
    weights: Arc<Weights>,
    /// `None` tells the thread to end.
    tasks: Option<Sender<ChoiceTask>>,
    thread: Option<JoinHandle<()>>,
    room: Arc<Semaphore>,
    context_tokens: u32,
    memory_bytes: u64,
}

/// A generation in progress. Dropping it cancels the work within one token.
#[derive(Debug)]
pub struct Generation {
    /// Unbounded, but a generation cannot produce more events than its context has tokens.
    events: UnboundedReceiver<Event>,
    pub prompt_tokens: u32,
}

impl Generation {
    /// The next event; `None` when all choices have finished.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }
}

impl TextModel {
    /// Allocates the memory and starts the model's thread.
    pub fn start(weights: Weights, settings: &Settings) -> Result<TextModel, LoadError> {
        let weights = Arc::new(weights);
        let context_tokens = weights.context_tokens(settings)?;
        let memory_bytes = weights.memory_bytes(settings)?;
        let (tasks, queue) = mpsc::channel();
        let thread = scheduler::start(Arc::clone(&weights), settings, context_tokens, queue)?;
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

    /// Tokenizes the prompt and passes it to the model's thread. Blocks for a while if the prompt
    /// is long, so call it on a blocking thread.
    pub fn generate(&self, request: &Request) -> Result<Generation, Refusal> {
        check(request)?;
        let prompt = self.prompt(request)?;
        let prompt_tokens = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        if self.context_tokens <= prompt_tokens {
            let context_tokens = self.context_tokens;
            return Err(Refusal::ContextOverflow { context_tokens, prompt_tokens });
        }
        let constraint = self.constraint(request)?;
        let (sender, events) = unbounded_channel();
        // Admits all choices or none: an incomplete answer is useless.
        let room = Arc::clone(&self.room).try_acquire_many_owned(request.choices);
        let mut room = room.map_err(|_| Refusal::Overloaded)?;
        for choice in 0..request.choices {
            let writer = self.writer(request, &prompt, (choice, &sender), &constraint);
            let task = ChoiceTask {
                prompt: prompt.clone(),
                cache_key: request.cache_key.clone(),
                writer,
                _room: room.split(1).ok_or(Refusal::Overloaded)?,
            };
            let tasks = self.tasks.as_ref().ok_or(Refusal::Stopped)?;
            tasks.send(task).map_err(|_| Refusal::Stopped)?;
        }
        Ok(Generation { events, prompt_tokens })
    }

    fn prompt(&self, request: &Request) -> Result<Vec<Token>, Refusal> {
        let weights = &self.weights;
        let tokens = match &request.prompt {
            Prompt::Text(text) => weights.tokens_of(text),
            Prompt::Middle { before, after } => {
                weights.tokens_around(before, after).ok_or_else(|| {
                    Refusal::invalid("suffix", "This model was not trained to fill in a middle.")
                })?
            }
            Prompt::Chat(chat) => {
                weights.tokens_of(&weights.template.render(&seen_by_model(chat), request.now_s)?)
            }
        };
        if tokens.is_empty() {
            return Err(Refusal::invalid("prompt", "The prompt is empty. Send at least a word."));
        }
        Ok(tokens)
    }

    fn writer(
        &self,
        request: &Request,
        prompt: &[Token],
        (choice, events): (u32, &UnboundedSender<Event>),
        constraint: &Constrained,
    ) -> Writer {
        let prompt: Vec<u32> = prompt.iter().copied().map(number_of).collect();
        let room = self.context_tokens.saturating_sub(u32::try_from(prompt.len()).unwrap_or(0));
        let tokens_max = request.completion_tokens_max.map_or(room, |most| most.min(room));
        Writer::new(choice, request, &prompt, tokens_max)
            .sending_to(events.clone())
            .constrained(constraint)
    }

    fn constraint(&self, request: &Request) -> Result<Constrained, Refusal> {
        let calls = match &request.prompt {
            Prompt::Chat(chat) => self.calls(chat)?,
            Prompt::Text(_) | Prompt::Middle { .. } => Constrained::default(),
        };
        if calls.whole.is_some() {
            return Ok(calls);
        }
        let any_object = serde_json::json!({"type": "object"});
        let schema = match &request.format {
            Format::Text => return Ok(calls),
            Format::JsonObject => &any_object,
            Format::JsonSchema(schema) => schema,
        };
        let whole = match &request.prompt {
            Prompt::Chat(chat) if calls.has_calls => {
                let tools: Vec<&Tool> = chat.tools.iter().collect();
                self.grammars()?.calls_or_json(&tools, chat.is_one_call_enough, schema)?
            }
            _ => self.grammars()?.json_schema(schema)?,
        };
        Ok(Constrained { whole: Some(whole), each_call: None, bare_names: Vec::new(), ..calls })
    }

    fn calls(&self, chat: &Chat) -> Result<Constrained, Refusal> {
        if chat.tools.is_empty() || chat.tool_choice == ToolChoice::None {
            return Ok(Constrained::default());
        }
        if !self.weights.has_tool_calls() {
            return Err(Refusal::invalid("tools", "This model was not trained to call tools."));
        }
        let all: Vec<&Tool> = chat.tools.iter().collect();
        let is_one = chat.is_one_call_enough;
        let grammars = self.grammars()?;
        let whole = match &chat.tool_choice {
            ToolChoice::Required => Some(grammars.calls(&all, is_one)?),
            ToolChoice::Function(name) => Some(grammars.calls(&[named(chat, name)?], true)?),
            ToolChoice::Auto | ToolChoice::None => None,
        };
        let each = if whole.is_some() { None } else { Some(grammars.rest_of_call(&all)?) };
        let names = all.iter().map(|tool| tool.name.clone());
        let bare_names = if each.is_some() { names.collect() } else { Vec::new() };
        let is_one_call_enough = is_one;
        Ok(Constrained { whole, each_call: each, has_calls: true, bare_names, is_one_call_enough })
    }

    fn grammars(&self) -> Result<&crate::constraint::Grammars, Refusal> {
        self.weights.grammars().map_err(|cause| {
            Refusal::invalid(
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
pub(crate) struct Constrained {
    /// Applies from the first token to the last.
    pub(crate) whole: Option<Constraint>,
    /// Applies from the start of a call to its end.
    pub(crate) each_call: Option<Constraint>,
    /// Set if the answer may contain calls, which must be separated from its text.
    pub(crate) has_calls: bool,
    /// Tools whose calls are also recognised without tags.
    pub(crate) bare_names: Vec<String>,
    pub(crate) is_one_call_enough: bool,
}

fn check(request: &Request) -> Result<(), Refusal> {
    if request.choices == 0 || CHOICES_MAX < request.choices {
        return Err(Refusal::invalid("n", format!("Ask for 1 to {CHOICES_MAX} choices.")));
    }
    if request.logprobs.is_some_and(|few| LOGPROBS_MAX < few) {
        let message = format!("Ask for at most {LOGPROBS_MAX} alternatives.");
        return Err(Refusal::invalid("top_logprobs", message));
    }
    if request.completion_tokens_max == Some(0) {
        return Err(Refusal::invalid("max_tokens", "Ask for at least one token."));
    }
    Ok(())
}

/// Removes the tools from the prompt if the model may not call them.
fn seen_by_model(chat: &Chat) -> std::borrow::Cow<'_, Chat> {
    if chat.tool_choice == ToolChoice::None && !chat.tools.is_empty() {
        return std::borrow::Cow::Owned(Chat { tools: Vec::new(), ..chat.clone() });
    }
    std::borrow::Cow::Borrowed(chat)
}

fn named<'a>(chat: &'a Chat, name: &str) -> Result<&'a Tool, Refusal> {
    chat.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        Refusal::invalid("tool_choice", format!("There is no tool {name} among the tools."))
    })
}
