//! One provider: its address, protocol and concurrency limits.

mod audio_models;
mod chat_model;
mod score_models;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use engine::{
    AttestedEngine, ChatEngine, EmbeddingEngine, EngineError, ImageClassifier, ImageEngine,
    MediaEngine, ServingProvider,
};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use outbound::{ConnectSettings, ConnectVia, OutboundClient, RequestTarget};
use url::Url;

use crate::a1111::A1111Images;
use crate::anthropic::{self, AnthropicChat, ThinkingStyle};
use crate::comfyui::{self, ComfyUi, ComfyWorkflow};
use crate::failure::OwnHost;
use crate::fal::FalImages;
use crate::fan_out::FanOut;
use crate::media_jobs::ProtocolEngine;
use crate::media_jobs::acestep::AceStep;
use crate::media_jobs::builtin::BuiltInVideos;
use crate::media_jobs::comfyui::ComfyUiMedia;
use crate::media_jobs::fal::FalMedia;
use crate::media_jobs::openai::OpenAiVideos;
use crate::media_jobs::sdcpp::SdCppVideos;
use crate::openai::{
    BuiltInClassifier, OpenAiAttested, OpenAiChat, OpenAiEmbeddings, OpenAiImages, PictureTools,
};
use crate::pool::ProviderQueue;
use crate::quirks::{OpenAiChatApi, ServerQuirks};
use crate::sdcpp::SdCpp;
use crate::transport::{UpstreamEndpoint, UpstreamTimeouts};

pub use chat_model::ChatModelSettings;

/// The operator's settings of a provider. Not `Debug`, because it holds a secret.
pub struct UpstreamSettings {
    pub id: String,
    pub protocol: ProviderProtocol,
    /// Up to and including the version, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    pub api_key: Option<String>,
    /// Extra headers of every request.
    pub headers: Vec<(String, String)>,
    pub timeouts: UpstreamTimeouts,
    pub concurrency: ConcurrencyLimits,
    /// Maximum entries per embedding request.
    pub embedding_inputs_max: usize,
    /// Set if the provider bills the complete answer even if we disconnect.
    pub bills_after_hangup: bool,
    /// Set for a process on this machine, which has a Unix socket and may not be ready.
    pub local: Option<LocalProcess>,
}

/// An engine process on this machine that we start ourselves.
#[derive(Clone)]
pub struct LocalProcess {
    /// The Unix socket to connect to; the host of `base_url` is then ignored.
    pub socket: PathBuf,
    /// Called before each request.
    pub readiness: ReadinessCheck,
}

/// Returns an error, with a message for the caller, if a model cannot be run yet.
pub type ReadinessCheck = Arc<dyn Fn(&str) -> Result<(), EngineError> + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderProtocol {
    OpenAi(ServerQuirks),
    Anthropic {
        thinking: ThinkingStyle,
        /// Marks system prompts for caching if the caller marks nothing.
        caches_system_prompt: bool,
    },
    /// stable-diffusion.cpp's own protocol.
    SdCpp,
    AceStep,
    /// AUTOMATIC1111's web UI and compatible servers.
    A1111,
    ComfyUi,
    Fal,
    WhisperCpp,
    /// Text Embeddings Inference, for reranking.
    Tei,
}

/// The kind of media that a model makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaWork {
    Music,
    Video,
}

/// Limits of concurrent and queued requests at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// `None`: unlimited.
    pub requests_max: Option<usize>,
    pub queue_max: usize,
    pub queue_wait_max: Duration,
}

impl Default for ConcurrencyLimits {
    fn default() -> ConcurrencyLimits {
        ConcurrencyLimits {
            requests_max: None,
            queue_max: 256,
            queue_wait_max: Duration::from_secs(30),
        }
    }
}

impl UpstreamSettings {
    /// The API key and the other headers of every request.
    pub fn build_headers(&self) -> Result<HeaderMap, ProviderSetupError> {
        let mut headers = HeaderMap::new();
        let mut put = |name: &str, value: &str| {
            let wrong =
                || ProviderSetupError::Header { id: self.id.clone(), name: name.to_owned() };
            let header = HeaderName::try_from(name).map_err(|_| wrong())?;
            let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
            // Any header may be a credential, so none is printed.
            value.set_sensitive(true);
            headers.insert(header, value);
            Ok(())
        };
        if let Some(api_key) = &self.api_key {
            match self.protocol {
                ProviderProtocol::Anthropic { .. } => put("x-api-key", api_key)?,
                ProviderProtocol::Fal => put(AUTHORIZATION.as_str(), &format!("Key {api_key}"))?,
                _ => put(AUTHORIZATION.as_str(), &format!("Bearer {api_key}"))?,
            }
        }
        if let ProviderProtocol::Anthropic { .. } = self.protocol {
            put("anthropic-version", anthropic::VERSION)?;
        }
        for (name, value) in &self.headers {
            put(name, value)?;
        }
        Ok(headers)
    }
}

/// Errors in a provider's configuration.
#[derive(Debug, thiserror::Error)]
pub enum ProviderSetupError {
    #[error("provider {id}: base_url {base_url:?} is not an http or https URL")]
    BaseUrl { id: String, base_url: String },
    #[error("provider {id}: header {name:?} has a name or value that HTTP does not allow")]
    Header { id: String, name: String },
    #[error("provider {id}: its protocol has no {work}; use a provider of kind openai")]
    NoSuchWork { id: String, work: &'static str },
    #[error("provider {id}: the model name {model:?} cannot be part of a URL")]
    Model { id: String, model: String },
    #[error("provider {id}: a model of kind comfyui needs a `workflow`")]
    NoWorkflow { id: String },
    #[error("provider {id}: the HTTP client cannot be built: {cause}")]
    Client { id: String, cause: outbound::TlsSetupError },
}

/// One provider, ready for requests. Its models share connections and concurrency limits.
pub struct UpstreamProvider {
    id: String,
    protocol: ProviderProtocol,
    client: OutboundClient,
    base: RequestTarget,
    timeouts: UpstreamTimeouts,
    embedding_inputs_max: usize,
    bills_after_hangup: bool,
    readiness: Option<ReadinessCheck>,
    gate: Arc<ProviderQueue>,
}

impl UpstreamProvider {
    pub fn new(settings: UpstreamSettings) -> Result<UpstreamProvider, ProviderSetupError> {
        let headers = settings.build_headers()?;
        let client = OutboundClient::new(build_reach(&settings))
            .map_err(|cause| ProviderSetupError::Client { id: settings.id.clone(), cause })?;
        let base = Url::parse(&settings.base_url).ok();
        let base = base.and_then(|url| RequestTarget::new(&client, &url, headers).ok());
        let Some(base) = base else {
            let (id, base_url) = (settings.id, settings.base_url);
            return Err(ProviderSetupError::BaseUrl { id, base_url });
        };
        Ok(UpstreamProvider {
            id: settings.id,
            protocol: settings.protocol,
            client,
            base,
            timeouts: settings.timeouts,
            embedding_inputs_max: settings.embedding_inputs_max,
            bills_after_hangup: settings.bills_after_hangup,
            readiness: settings.local.map(|local| local.readiness),
            gate: Arc::new(ProviderQueue::new(settings.concurrency)),
        })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Creates the engine of a chat model. `completion_tokens_max` is used for protocols that
    /// require a limit if the caller gives none.
    pub fn create_chat_engine(
        &self,
        model: &str,
        completion_tokens_max: u64,
    ) -> Result<Arc<dyn ChatEngine>, ProviderSetupError> {
        let model = model.to_owned();
        Ok(match self.protocol {
            ProviderProtocol::OpenAi(quirks) if quirks.chat_api == OpenAiChatApi::Responses => {
                self.create_responses_engine(&model, false)
            }
            ProviderProtocol::OpenAi(quirks) => {
                let endpoint = self.endpoint("chat/completions");
                let texts = self.endpoint("completions");
                let counts = self.endpoint("chat/tokens");
                let chat = OpenAiChat { endpoint, texts, counts, model, quirks };
                match (quirks.takes_choices, quirks.takes_prompts) {
                    (true, true) => Arc::new(chat),
                    (true, false) => Arc::new(FanOut::by_prompt(chat)),
                    (false, _) => Arc::new(FanOut::by_choice(chat)),
                }
            }
            ProviderProtocol::Anthropic { thinking, caches_system_prompt } => {
                let endpoint = self.endpoint("messages");
                let chat = AnthropicChat {
                    endpoint,
                    model,
                    thinking,
                    caches_system_prompt,
                    completion_tokens_max,
                };
                Arc::new(FanOut::by_choice(chat))
            }
            _ => return Err(self.unsupported_work("chats")),
        })
    }

    /// Creates the engine of an embedding model.
    pub fn create_embedding_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn EmbeddingEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(_) => Ok(Arc::new(OpenAiEmbeddings {
                endpoint: self.endpoint("embeddings"),
                model: model.to_owned(),
                inputs_max: self.embedding_inputs_max,
            })),
            _ => Err(self.unsupported_work("embeddings")),
        }
    }

    /// Creates the engine of a music or video model; `None` if the protocol has no such work.
    /// `workflow` is required for ComfyUI.
    pub fn create_media_engine(
        &self,
        model: &str,
        work: MediaWork,
        workflow: Option<&ComfyWorkflow>,
    ) -> Result<Option<Arc<dyn MediaEngine>>, ProviderSetupError> {
        if self.protocol == ProviderProtocol::ComfyUi {
            let (server, workflow) = (self.comfy_server(), self.require_workflow(workflow)?);
            return Ok(Some(Arc::new(ProtocolEngine(ComfyUiMedia { server, workflow, work }))));
        }
        Ok(self.media_without_workflow(model, work))
    }

    fn media_without_workflow(&self, model: &str, work: MediaWork) -> Option<Arc<dyn MediaEngine>> {
        if let Some(readiness) = self.readiness() {
            let (videos, model) = (self.endpoint("videos"), model.to_owned());
            let makes_videos = work == MediaWork::Video;
            return makes_videos.then(|| {
                Arc::new(ProtocolEngine(BuiltInVideos { videos, model, readiness })) as Arc<_>
            });
        }
        match (self.protocol, work) {
            (ProviderProtocol::OpenAi(_), MediaWork::Video) => {
                Some(Arc::new(ProtocolEngine(OpenAiVideos {
                    videos: self.endpoint("videos"),
                    model: model.to_owned(),
                })))
            }
            (ProviderProtocol::SdCpp, MediaWork::Video) => {
                Some(Arc::new(ProtocolEngine(SdCppVideos {
                    submit: self.endpoint("sdcpp/v1/vid_gen"),
                    jobs: self.endpoint("sdcpp/v1/jobs"),
                })))
            }
            (ProviderProtocol::Fal, _) => {
                Some(Arc::new(ProtocolEngine(FalMedia { submit: self.queue_endpoint(model)? })))
            }
            (ProviderProtocol::AceStep, MediaWork::Music) => {
                Some(Arc::new(ProtocolEngine(AceStep {
                    release: self.endpoint("release_task"),
                    query: self.endpoint("query_result"),
                    audio: self.endpoint("v1/audio"),
                    format_input: self.endpoint("format_input"),
                    model: model.to_owned(),
                })))
            }
            _ => None,
        }
    }

    /// Creates the engine of an image model. `workflow` is required for ComfyUI.
    pub fn create_image_engine(
        &self,
        model: &str,
        workflow: Option<&ComfyWorkflow>,
    ) -> Result<Arc<dyn ImageEngine>, ProviderSetupError> {
        let id = || self.id.clone();
        Ok(match self.protocol {
            ProviderProtocol::OpenAi(quirks) => Arc::new(OpenAiImages {
                generations: self.endpoint("images/generations"),
                edits: self.endpoint("images/edits"),
                tools: quirks.has_picture_tools.then(|| PictureTools {
                    upscales: self.endpoint("images/upscales"),
                    cutouts: self.endpoint("images/cutouts"),
                }),
                model: model.to_owned(),
                quirks,
            }),
            ProviderProtocol::SdCpp => Arc::new(SdCpp {
                submit: self.endpoint("sdcpp/v1/img_gen"),
                jobs: self.endpoint("sdcpp/v1/jobs"),
            }),
            ProviderProtocol::A1111 => Arc::new(A1111Images {
                txt2img: self.endpoint("sdapi/v1/txt2img"),
                img2img: self.endpoint("sdapi/v1/img2img"),
                upscale: self.endpoint("sdapi/v1/extra-single-image"),
                cut_out: self.endpoint("rembg"),
                progress: self.endpoint("sdapi/v1/progress"),
                interrupt: self.endpoint("sdapi/v1/interrupt"),
                model: model.to_owned(),
                tasks: AtomicU64::new(0),
            }),
            ProviderProtocol::ComfyUi => Arc::new(ComfyUi {
                server: self.comfy_server(),
                workflow: self.require_workflow(workflow)?,
            }),
            ProviderProtocol::Fal => {
                let wrong = || ProviderSetupError::Model { id: id(), model: model.to_owned() };
                Arc::new(FalImages { submit: self.queue_endpoint(model).ok_or_else(wrong)? })
            }
            ProviderProtocol::Anthropic { .. }
            | ProviderProtocol::WhisperCpp
            | ProviderProtocol::AceStep
            | ProviderProtocol::Tei => {
                return Err(self.unsupported_work("pictures"));
            }
        })
    }

    /// Creates the image classifier; only the built-in engine has one.
    pub fn create_image_classifier(
        &self,
        model: &str,
    ) -> Result<Arc<dyn ImageClassifier>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(quirks) if quirks.has_picture_tools => {
                Ok(Arc::new(BuiltInClassifier {
                    safety: self.endpoint("images/safety"),
                    model: model.to_owned(),
                }))
            }
            _ => Err(self.unsupported_work("classifier")),
        }
    }

    /// Creates the engine that returns attestation reports of a model.
    pub fn create_attested_engine(
        &self,
        model: &str,
    ) -> Result<Arc<dyn AttestedEngine>, ProviderSetupError> {
        match self.protocol {
            ProviderProtocol::OpenAi(_) => Ok(Arc::new(OpenAiAttested {
                provider: self.id.clone(),
                report: self.endpoint("attestation/report"),
                signatures: self.endpoint("signature"),
                model: model.to_owned(),
            })),
            _ => Err(self.unsupported_work("attestation")),
        }
    }

    /// The provider information that accompanies an answer.
    pub(crate) fn serving_provider(&self, model: &str) -> ServingProvider {
        ServingProvider {
            provider: self.id.as_str().into(),
            model: model.into(),
            bills_after_hangup: self.bills_after_hangup,
        }
    }

    /// The host of the provider's URL.
    pub(crate) fn own_host(&self) -> OwnHost {
        OwnHost::new(self.base.host())
    }

    pub(crate) fn readiness(&self) -> Option<ReadinessCheck> {
        self.readiness.clone()
    }

    pub(crate) fn provider_queue(&self) -> Arc<ProviderQueue> {
        Arc::clone(&self.gate)
    }

    fn unsupported_work(&self, work: &'static str) -> ProviderSetupError {
        ProviderSetupError::NoSuchWork { id: self.id.clone(), work }
    }

    fn comfy_server(&self) -> comfyui::ComfyServer {
        comfyui::ComfyServer {
            prompt: self.endpoint("prompt"),
            history: self.endpoint("history"),
            view: self.endpoint("view"),
            upload: self.endpoint("upload/image"),
            queue: self.endpoint("queue"),
            interrupt: self.endpoint("interrupt"),
        }
    }

    fn require_workflow(
        &self,
        workflow: Option<&ComfyWorkflow>,
    ) -> Result<ComfyWorkflow, ProviderSetupError> {
        workflow.cloned().ok_or_else(|| ProviderSetupError::NoWorkflow { id: self.id.clone() })
    }

    /// The endpoint where fal accepts requests for a model; `None` if the id is not safe in a URL.
    fn queue_endpoint(&self, model: &str) -> Option<UpstreamEndpoint> {
        let path = format!("{}/{model}", self.base.path().trim_end_matches('/'));
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "/-_.".contains(it);
        let target = self.base.with_path(&path).ok().filter(|_| model.chars().all(is_plain));
        Some(UpstreamEndpoint { target: target?, ..self.endpoint("") })
    }

    fn endpoint(&self, path: &'static str) -> UpstreamEndpoint {
        UpstreamEndpoint {
            client: self.client.clone(),
            target: self.base.join_path(path),
            timeouts: self.timeouts,
        }
    }
}

/// Uvicorn, used by vLLM and many others, closes connections after 5 s idle. If that happens while
/// we send, it looks like a failure during the work, so we close first.
const IDLE_MAX: Duration = Duration::from_secs(4);

fn build_reach(settings: &UpstreamSettings) -> ConnectSettings {
    let way = match &settings.local {
        Some(local) => ConnectVia::Socket(local.socket.clone()),
        None => ConnectVia::ByEnvironment,
    };
    ConnectSettings { way, connect_timeout: settings.timeouts.connect, idle_max: IDLE_MAX }
}
