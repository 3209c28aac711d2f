//! The rate-limit tiers of the specification's tables.

use crate::catalogue::{CatalogueModel, ModelSpec, ModelTier};

/// The limit that a request counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitClass {
    /// Larger models allow fewer requests.
    Text(ModelTier),
    Image,
    Audio,
    /// Embeddings, reranking and moderation.
    Embedding,
    VideoQueue,
    VideoRetrieve,
    AudioQueue,
    AudioRetrieve,
    /// Scraping, searching and parsing of documents.
    Augment,
    /// Requests to an enclave for an attestation.
    Attestation,
    /// Making API keys.
    KeyCreation,
    /// Calls to chain nodes through the proxy; a batch counts once.
    CryptoRpc,
    /// Payments by wallets, counted by IP address: the payer is not known before the payment.
    TopUp,
    /// A wallet reading its balance.
    WalletBalance,
    /// A wallet reading its history.
    WalletTransactions,
    /// Counting the tokens of a prompt, which agents do in bursts.
    TokenCount,
    /// Everything that no other class counts: listings, billing, documents.
    General,
}

impl LimitClass {
    /// The class of a request to this model.
    pub fn of_model(model: &CatalogueModel) -> LimitClass {
        match &model.spec {
            ModelSpec::Text(text) => LimitClass::Text(text.tier),
            ModelSpec::Embedding(_) | ModelSpec::Rerank(_) | ModelSpec::Moderation(_) => {
                LimitClass::Embedding
            }
            ModelSpec::Image(_) | ModelSpec::Upscale(_) | ModelSpec::Inpaint(_) => {
                LimitClass::Image
            }
            ModelSpec::Tts(_) | ModelSpec::Asr(_) => LimitClass::Audio,
            ModelSpec::Music(_) => LimitClass::AudioQueue,
            ModelSpec::Video(_) => LimitClass::VideoQueue,
        }
    }
}

/// The limits for one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinuteLimits {
    pub requests: u64,
    /// Only for requests measured in tokens.
    pub tokens: Option<u64>,
}

/// A named set of limits; an account has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitTier {
    name: String,
    like: BuiltInTier,
    /// Limits that the operator changed.
    changes: Vec<(LimitClass, MinuteLimits)>,
}

impl RateLimitTier {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn limits_for(&self, class: LimitClass) -> MinuteLimits {
        let changed = self.changes.iter().find(|(changed, _)| *changed == class);
        changed.map_or_else(|| self.like.limits_for(class), |(_, allowed)| *allowed)
    }

    /// Returns the tier with other limits for one class of requests.
    #[must_use]
    pub fn with_limits(mut self, class: LimitClass, allowed: MinuteLimits) -> RateLimitTier {
        self.changes.retain(|(changed, _)| *changed != class);
        self.changes.push((class, allowed));
        self
    }
}

/// All tiers: those of the specification and the operator's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimitTiers {
    /// The default tier is first.
    tiers: Vec<RateLimitTier>,
}

impl Default for RateLimitTiers {
    fn default() -> RateLimitTiers {
        RateLimitTiers { tiers: BuiltInTier::ALL.into_iter().map(BuiltInTier::to_tier).collect() }
    }
}

impl RateLimitTiers {
    /// Adds a tier, or replaces the one of the same name.
    pub fn set(&mut self, tier: RateLimitTier) {
        match self.tiers.iter_mut().find(|known| known.name == tier.name) {
            Some(known) => *known = tier,
            None => self.tiers.push(tier),
        }
    }

    /// Changes limits of the default tier, which also applies to unknown callers.
    pub fn set_default_limits(&mut self, class: LimitClass, allowed: MinuteLimits) {
        let ordinary = self.tiers[0].clone();
        self.tiers[0] = ordinary.with_limits(class, allowed);
    }

    pub fn find(&self, name: &str) -> Option<&RateLimitTier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }

    /// The tier with this name, or the default tier: accounts whose tier was removed from the
    /// configuration must not be without limits.
    pub fn find_or_default(&self, name: &str) -> &RateLimitTier {
        self.find(name).unwrap_or(&self.tiers[0])
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tiers.iter().map(RateLimitTier::name)
    }
}

/// A tier defined by the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltInTier {
    Default,
    Partner,
    /// For the operator's staff: a partner's limits, and ten times the calls to chain nodes.
    Staff,
}

impl BuiltInTier {
    pub const ALL: [BuiltInTier; 3] =
        [BuiltInTier::Default, BuiltInTier::Partner, BuiltInTier::Staff];
    pub const NAMES: &[&str] = &["default", "partner", "staff"];

    pub fn parse(name: &str) -> Option<BuiltInTier> {
        BuiltInTier::ALL.into_iter().find(|tier| tier.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            BuiltInTier::Default => "default",
            BuiltInTier::Partner => "partner",
            BuiltInTier::Staff => "staff",
        }
    }

    /// The tier with the limits of the specification.
    pub fn to_tier(self) -> RateLimitTier {
        self.with_name(self.name())
    }

    /// A new tier with another name and the same limits.
    pub fn with_name(self, name: &str) -> RateLimitTier {
        RateLimitTier { name: name.to_owned(), like: self, changes: Vec::new() }
    }

    fn limits_for(self, class: LimitClass) -> MinuteLimits {
        let requests = |requests| MinuteLimits { requests, tokens: None };
        match class {
            LimitClass::Text(size) => self.text_limits(size),
            LimitClass::Image => requests(if self == BuiltInTier::Default { 20 } else { 60 }),
            LimitClass::Audio => requests(if self == BuiltInTier::Default { 60 } else { 120 }),
            LimitClass::Embedding => requests(500),
            LimitClass::VideoQueue | LimitClass::AudioQueue => requests(40),
            LimitClass::VideoRetrieve | LimitClass::AudioRetrieve => requests(120),
            LimitClass::Augment | LimitClass::KeyCreation => requests(20),
            LimitClass::Attestation => requests(10),
            LimitClass::CryptoRpc => requests(if self == BuiltInTier::Staff { 1_000 } else { 100 }),
            LimitClass::TopUp => requests(10),
            LimitClass::WalletBalance => requests(30),
            LimitClass::WalletTransactions => requests(20),
            LimitClass::TokenCount => requests(600),
            LimitClass::General => requests(3_000),
        }
    }

    fn text_limits(self, size: ModelTier) -> MinuteLimits {
        let (requests, tokens) = match (self, size) {
            (BuiltInTier::Default, ModelTier::Xs) => (500, 1_000_000),
            (BuiltInTier::Default, ModelTier::S) => (75, 750_000),
            (BuiltInTier::Default, ModelTier::M) => (50, 750_000),
            (BuiltInTier::Default, ModelTier::L) => (20, 500_000),
            (BuiltInTier::Partner | BuiltInTier::Staff, ModelTier::Xs) => (500, 2_000_000),
            (BuiltInTier::Partner | BuiltInTier::Staff, ModelTier::S) => (150, 1_500_000),
            (BuiltInTier::Partner | BuiltInTier::Staff, ModelTier::M) => (100, 1_500_000),
            (BuiltInTier::Partner | BuiltInTier::Staff, ModelTier::L) => (60, 1_000_000),
        };
        MinuteLimits { requests, tokens: Some(tokens) }
    }
}

#[cfg(test)]
mod tests;
