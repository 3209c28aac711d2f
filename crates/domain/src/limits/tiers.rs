//! The rate-limit tiers of the specification's tables.

use crate::catalogue::{Model, ModelSpec, Tier as ModelTier};

/// The limit that a request counts against.
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
    /// Everything that no other class counts: listings, billing, documents.
    General,
}

impl LimitClass {
    /// The class of a request to this model.
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

/// The limits for one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    pub requests: u64,
    /// Only for requests measured in tokens.
    pub tokens: Option<u64>,
}

/// A named set of limits; an account has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    name: String,
    like: BuiltIn,
    /// Limits that the operator changed.
    changes: Vec<(LimitClass, Allowed)>,
}

impl Tier {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn allowed(&self, class: LimitClass) -> Allowed {
        let changed = self.changes.iter().find(|(changed, _)| *changed == class);
        changed.map_or_else(|| self.like.allowed(class), |(_, allowed)| *allowed)
    }

    /// Returns the tier with other limits for one class of requests.
    #[must_use]
    pub fn with(mut self, class: LimitClass, allowed: Allowed) -> Tier {
        self.changes.retain(|(changed, _)| *changed != class);
        self.changes.push((class, allowed));
        self
    }
}

/// All tiers: those of the specification and the operator's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiers {
    /// The default tier is first.
    tiers: Vec<Tier>,
}

impl Default for Tiers {
    fn default() -> Tiers {
        Tiers { tiers: BuiltIn::ALL.into_iter().map(BuiltIn::tier).collect() }
    }
}

impl Tiers {
    /// Adds a tier, or replaces the one of the same name.
    pub fn set(&mut self, tier: Tier) {
        match self.tiers.iter_mut().find(|known| known.name == tier.name) {
            Some(known) => *known = tier,
            None => self.tiers.push(tier),
        }
    }

    /// Changes limits of the default tier, which also applies to unknown callers.
    pub fn change_ordinary(&mut self, class: LimitClass, allowed: Allowed) {
        let ordinary = self.tiers[0].clone();
        self.tiers[0] = ordinary.with(class, allowed);
    }

    pub fn find(&self, name: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }

    /// The tier with this name, or the default tier: accounts whose tier was removed from the
    /// configuration must not be without limits.
    pub fn named_or_ordinary(&self, name: &str) -> &Tier {
        self.find(name).unwrap_or(&self.tiers[0])
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tiers.iter().map(Tier::name)
    }
}

/// A tier defined by the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    Default,
    Partner,
    /// For the operator's staff: a partner's limits, and ten times the calls to chain nodes.
    Staff,
}

impl BuiltIn {
    pub const ALL: [BuiltIn; 3] = [BuiltIn::Default, BuiltIn::Partner, BuiltIn::Staff];
    pub const NAMES: &[&str] = &["default", "partner", "staff"];

    pub fn parse(name: &str) -> Option<BuiltIn> {
        BuiltIn::ALL.into_iter().find(|tier| tier.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Default => "default",
            BuiltIn::Partner => "partner",
            BuiltIn::Staff => "staff",
        }
    }

    /// The tier with the limits of the specification.
    pub fn tier(self) -> Tier {
        self.named(self.name())
    }

    /// A new tier with another name and the same limits.
    pub fn named(self, name: &str) -> Tier {
        Tier { name: name.to_owned(), like: self, changes: Vec::new() }
    }

    fn allowed(self, class: LimitClass) -> Allowed {
        let requests = |requests| Allowed { requests, tokens: None };
        match class {
            LimitClass::Text(size) => self.text(size),
            LimitClass::Image => requests(if self == BuiltIn::Default { 20 } else { 60 }),
            LimitClass::Audio => requests(if self == BuiltIn::Default { 60 } else { 120 }),
            LimitClass::Embedding => requests(500),
            LimitClass::VideoQueue | LimitClass::AudioQueue => requests(40),
            LimitClass::VideoRetrieve | LimitClass::AudioRetrieve => requests(120),
            LimitClass::Augment | LimitClass::KeyCreation => requests(20),
            LimitClass::Attestation => requests(10),
            LimitClass::CryptoRpc => requests(if self == BuiltIn::Staff { 1_000 } else { 100 }),
            LimitClass::TopUp => requests(10),
            LimitClass::WalletBalance => requests(30),
            LimitClass::WalletTransactions => requests(20),
            LimitClass::General => requests(3_000),
        }
    }

    fn text(self, size: ModelTier) -> Allowed {
        let (requests, tokens) = match (self, size) {
            (BuiltIn::Default, ModelTier::Xs) => (500, 1_000_000),
            (BuiltIn::Default, ModelTier::S) => (75, 750_000),
            (BuiltIn::Default, ModelTier::M) => (50, 750_000),
            (BuiltIn::Default, ModelTier::L) => (20, 500_000),
            (BuiltIn::Partner | BuiltIn::Staff, ModelTier::Xs) => (500, 2_000_000),
            (BuiltIn::Partner | BuiltIn::Staff, ModelTier::S) => (150, 1_500_000),
            (BuiltIn::Partner | BuiltIn::Staff, ModelTier::M) => (100, 1_500_000),
            (BuiltIn::Partner | BuiltIn::Staff, ModelTier::L) => (60, 1_000_000),
        };
        Allowed { requests, tokens: Some(tokens) }
    }
}

#[cfg(test)]
mod tests;
