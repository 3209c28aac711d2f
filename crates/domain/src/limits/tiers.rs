//! The tiers of rate limits that the specification prints as tables.

use crate::catalogue::{Model, ModelSpec, Tier as ModelTier};

/// What a request counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitClass {
    /// Larger models allow fewer requests.
    Text(ModelTier),
    Image,
    Audio,
    Embedding,
    VideoQueue,
    VideoRetrieve,
    AudioQueue,
    AudioRetrieve,
    /// Scraping, searching and parsing of documents.
    Augment,
    /// Making API keys.
    KeyCreation,
    /// Calls to chain nodes through the proxy; a batch counts once.
    CryptoRpc,
    /// Everything that no other class counts: listings, billing, documents.
    General,
}

impl LimitClass {
    /// What a request to a model counts against.
    pub fn of(model: &Model) -> LimitClass {
        match &model.spec {
            ModelSpec::Text(text) => LimitClass::Text(text.tier),
            ModelSpec::Embedding(_) => LimitClass::Embedding,
            ModelSpec::Image(_) | ModelSpec::Upscale(_) | ModelSpec::Inpaint(_) => {
                LimitClass::Image
            }
            ModelSpec::Tts(_) | ModelSpec::Asr(_) => LimitClass::Audio,
            ModelSpec::Music(_) => LimitClass::AudioQueue,
            ModelSpec::Video(_) => LimitClass::VideoQueue,
        }
    }
}

/// How much is allowed in one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    pub requests: u64,
    /// Only requests that are measured in tokens have this bound.
    pub tokens: Option<u64>,
}

/// A named set of limits; an account has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    Default,
    Partner,
    /// Those who run the service: a partner's limits, and ten times the calls to chain nodes.
    Staff,
}

impl Tier {
    pub const ALL: [Tier; 3] = [Tier::Default, Tier::Partner, Tier::Staff];

    pub fn parse(name: &str) -> Option<Tier> {
        Tier::ALL.into_iter().find(|tier| tier.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Tier::Default => "default",
            Tier::Partner => "partner",
            Tier::Staff => "staff",
        }
    }

    pub fn allowed(self, class: LimitClass) -> Allowed {
        let requests = |requests| Allowed { requests, tokens: None };
        match class {
            LimitClass::Text(size) => self.text(size),
            LimitClass::Image => requests(if self == Tier::Default { 20 } else { 60 }),
            LimitClass::Audio => requests(if self == Tier::Default { 60 } else { 120 }),
            LimitClass::Embedding => requests(500),
            LimitClass::VideoQueue | LimitClass::AudioQueue => requests(40),
            LimitClass::VideoRetrieve | LimitClass::AudioRetrieve => requests(120),
            LimitClass::Augment | LimitClass::KeyCreation => requests(20),
            LimitClass::CryptoRpc => requests(if self == Tier::Staff { 1_000 } else { 100 }),
            LimitClass::General => requests(3_000),
        }
    }

    fn text(self, size: ModelTier) -> Allowed {
        let (requests, tokens) = match (self, size) {
            (Tier::Default, ModelTier::Xs) => (500, 1_000_000),
            (Tier::Default, ModelTier::S) => (75, 750_000),
            (Tier::Default, ModelTier::M) => (50, 750_000),
            (Tier::Default, ModelTier::L) => (20, 500_000),
            (Tier::Partner | Tier::Staff, ModelTier::Xs) => (500, 2_000_000),
            (Tier::Partner | Tier::Staff, ModelTier::S) => (150, 1_500_000),
            (Tier::Partner | Tier::Staff, ModelTier::M) => (100, 1_500_000),
            (Tier::Partner | Tier::Staff, ModelTier::L) => (60, 1_000_000),
        };
        Allowed { requests, tokens: Some(tokens) }
    }
}
