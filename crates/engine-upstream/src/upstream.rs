//! One provider: where it is, how it is spoken to, and how much of it may be used at once.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{
    AttestedEngine, ChatEngine, EmbeddingEngine, EngineError, Served, SpeechEngine,
    TranscriptionEngine,
};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use outbound::{Client, Reach, Target, Way};
use url::Url;

use crate::anthropic::{self, AnthropicChat, Thinking};
use crate::fan_out::FanOut;
use crate::openai::{
    OpenAiAttested, OpenAiChat, OpenAiEmbeddings, OpenAiSpeech, OpenAiTranscription,
};
use crate::pool::Gate;
use crate::quirks::Quirks;
use crate::transport::{Endpoint, Timeouts};

/// Everything an operator can say about a provider. It holds a secret and cannot be printed.
pub struct UpstreamSettings {
    pub id: String,
    pub protocol: Protocol,
    /// Up to and with the version, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    pub timeouts: Timeouts,
    pub concurrency: Concurrency,
    /// The most entries of one embedding request that it takes at once.
    pub embedding_inputs_max: usize,
    /// It charges for an answer even if we hang up in the middle.
    pub bills_after_hangup: bool,
    /// A process of this machine, which is reached otherwise and may not be ready.
    pub local: Option<LocalProcess>,
}

/// An engine that runs beside us and that we start ourselves.
#[derive(Clone)]
pub struct LocalProcess {
    /// The Unix socket it listens on; the host of `base_url` means nothing then.
    pub socket: PathBuf,
    /// Whether it can run a model of its own now; asked before each request.
    pub readiness: Readiness,
}

/// Says that a model can be run, or why not yet.
pub type Readiness = Arc<dyn Fn(&str) -> Result<(), EngineError> + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    OpenAi(Quirks),
    Anthropic(Thinking),
}

/// How many requests may be at a provider, and how many may wait to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Concurrency {
    /// No number means no bound.
    pub requests_max: Option<usize>,
    pub queue_max: usize,
    pub queue_wait_max: Duration,
}

impl Default for Concurrency {
    fn default() -> Concurrency {
        Concurrency { requests_max: None, queue_max: 256, queue_wait_max: Duration::from_secs(30) }
    }
}

/// Why a provider cannot be used as it is configured.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("provider {id}: base_url {base_url:?} is not an http or https URL")]
    BaseUrl { id: String, base_url: String },
    #[error("provider {id}: header {name:?} has a name or value that HTTP does not allow")]
    Header { id: String, name: String },
    #[error("provider {id}: its protocol has no {work}; use a provider of kind openai")]
    NoSuchWork { id: String, work: &'static str },
    #[error("provider {id}: the HTTP client cannot be built: {cause}")]
    Client { id: String, cause: outbound::SetupError },
}

/// One provider, ready for requests. Its models share the connections and the places.
pub struct Upstream {
    id: String,
    protocol: Protocol,
    client: Client,
    base: Target,
    timeouts: Timeouts,
    embedding_inputs_max: usize,
    bills_after_hangup: bool,
    readiness: Option<Readiness>,
    gate: Arc<Gate>,
}

impl Upstream {
    pub fn new(settings: UpstreamSettings) -> Result<Upstream, SetupError> {
        let headers = headers(&settings)?;
        let client = Client::new(reach(&settings))
            .map_err(|cause| SetupError::Client { id: settings.id.clone(), cause })?;
        let base = Url::parse(&settings.base_url).ok();
        let base = base.and_then(|url| Target::new(&client, &url, headers).ok());
        let Some(base) = base else {
            let (id, base_url) = (settings.id, settings.base_url);
            return Err(SetupError::BaseUrl { id, base_url });
        };
        Ok(Upstream {
            id: settings.id,
            protocol: settings.protocol,
            client,
            base,
            timeouts: settings.timeouts,
            embedding_inputs_max: settings.embedding_inputs_max,
            bills_after_hangup: settings.bills_after_hangup,
            readiness: settings.local.map(|local| local.readiness),
            gate: Arc::new(Gate::new(settings.concurrency)),
        })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// An engine for one of its chat models. `completion_tokens_max` is the length of answers
    /// whose caller names none, for protocols that demand one.
    pub fn chat(&self, model: &str, completion_tokens_max: u64) -> Arc<dyn ChatEngine> {
        let model = model.to_owned();
        match self.protocol {
            Protocol::OpenAi(quirks) => {
                let endpoint = self.endpoint("chat/completions");
                let texts = self.endpoint("completions");
                let chat = OpenAiChat { endpoint, texts, model, quirks };
                match (quirks.takes_choices, quirks.takes_prompts) {
                    (true, true) => Arc::new(chat),
                    (true, false) => Arc::new(FanOut::by_prompt(chat)),
                    (false, _) => Arc::new(FanOut::by_choice(chat)),
                }
            }
            Protocol::Anthropic(thinking) => {
                let endpoint = self.endpoint("messages");
                let chat = AnthropicChat { endpoint, model, thinking, completion_tokens_max };
                Arc::new(FanOut::by_choice(chat))
            }
        }
    }

    /// An engine for one of its embedding models.
    pub fn embeddings(&self, model: &str) -> Result<Arc<dyn EmbeddingEngine>, SetupError> {
        match self.protocol {
            Protocol::OpenAi(_) => Ok(Arc::new(OpenAiEmbeddings {
                endpoint: self.endpoint("embeddings"),
                model: model.to_owned(),
                inputs_max: self.embedding_inputs_max,
            })),
            Protocol::Anthropic(_) => Err(self.cannot("embeddings")),
        }
    }

    /// An engine for one of its speech models.
    pub fn speech(&self, model: &str) -> Result<Arc<dyn SpeechEngine>, SetupError> {
        match self.protocol {
            Protocol::OpenAi(quirks) => Ok(Arc::new(OpenAiSpeech {
                endpoint: self.endpoint("audio/speech"),
                model: model.to_owned(),
                quirks,
            })),
            Protocol::Anthropic(_) => Err(self.cannot("speech")),
        }
    }

    /// An engine for one of its transcription models.
    pub fn transcription(&self, model: &str) -> Result<Arc<dyn TranscriptionEngine>, SetupError> {
        match self.protocol {
            Protocol::OpenAi(_) => Ok(Arc::new(OpenAiTranscription {
                endpoint: self.endpoint("audio/transcriptions"),
                model: model.to_owned(),
            })),
            Protocol::Anthropic(_) => Err(self.cannot("transcription")),
        }
    }

    /// What proves that one of its models runs in an enclave.
    pub fn attested(&self, model: &str) -> Result<Arc<dyn AttestedEngine>, SetupError> {
        match self.protocol {
            Protocol::OpenAi(_) => Ok(Arc::new(OpenAiAttested {
                provider: self.id.clone(),
                report: self.endpoint("attestation/report"),
                signatures: self.endpoint("signature"),
                model: model.to_owned(),
            })),
            Protocol::Anthropic(_) => Err(self.cannot("attestation")),
        }
    }

    /// What is told of an answer that one of its models gave.
    pub(crate) fn served(&self, model: &str) -> Served {
        Served {
            provider: self.id.as_str().into(),
            model: model.into(),
            bills_after_hangup: self.bills_after_hangup,
        }
    }

    pub(crate) fn readiness(&self) -> Option<Readiness> {
        self.readiness.clone()
    }

    pub(crate) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    fn cannot(&self, work: &'static str) -> SetupError {
        SetupError::NoSuchWork { id: self.id.clone(), work }
    }

    fn endpoint(&self, path: &'static str) -> Endpoint {
        Endpoint {
            client: self.client.clone(),
            target: self.base.beneath(path),
            timeouts: self.timeouts,
        }
    }
}

fn headers(settings: &UpstreamSettings) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    let mut put = |name: &str, value: &str| {
        let wrong = || SetupError::Header { id: settings.id.clone(), name: name.to_owned() };
        let header = HeaderName::try_from(name).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
        // Any of them may be a credential; none is worth printing.
        value.set_sensitive(true);
        headers.insert(header, value);
        Ok(())
    };
    if let Some(api_key) = &settings.api_key {
        match settings.protocol {
            Protocol::OpenAi(_) => put(AUTHORIZATION.as_str(), &format!("Bearer {api_key}"))?,
            Protocol::Anthropic(_) => put("x-api-key", api_key)?,
        }
    }
    if let Protocol::Anthropic(_) = settings.protocol {
        put("anthropic-version", anthropic::VERSION)?;
    }
    for (name, value) in &settings.headers {
        put(name, value)?;
    }
    Ok(headers)
}

/// Uvicorn, under vLLM and many others, closes a connection that was idle for 5 s. One that it
/// closes while we send looks like a failure in the middle of the work, so we leave first.
const IDLE_MAX: Duration = Duration::from_secs(4);

fn reach(settings: &UpstreamSettings) -> Reach {
    let way = match &settings.local {
        Some(local) => Way::Socket(local.socket.clone()),
        None => Way::ByEnvironment,
    };
    Reach { way, connect_timeout: settings.timeouts.connect, idle_max: IDLE_MAX }
}
