//! `[[tier]]`: rate limit tiers defined by the operator.

use domain::catalogue::Tier as ModelTier;
use domain::limits::tiers::{Allowed, BuiltIn, LimitClass, Tier};

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const PER_MINUTE: Kind = Kind::Integer { least: 0, most: 1_000_000_000_000 };

pub const SECTION: Section = Section {
    name: "tier",
    form: Form::Many,
    doc: "Rate limits of your own. `tollgate accounts tier NAME ID` puts an account under them. \
          A tier called `default` replaces the limits that everybody begins with.",
    keys: &[
        Key::required("id", Kind::Text, "What the tier is called."),
        Key::with_default(
            "like",
            Kind::Choice(BuiltIn::NAMES),
            "\"default\"",
            "The tier whose limits hold for whatever is not given here.",
        ),
        Key::optional("text_xs_requests", PER_MINUTE, "Requests a minute to a model of tier XS."),
        Key::optional("text_xs_tokens", PER_MINUTE, "Tokens a minute on a model of tier XS."),
        Key::optional("text_s_requests", PER_MINUTE, "Requests a minute to a model of tier S."),
        Key::optional("text_s_tokens", PER_MINUTE, "Tokens a minute on a model of tier S."),
        Key::optional("text_m_requests", PER_MINUTE, "Requests a minute to a model of tier M."),
        Key::optional("text_m_tokens", PER_MINUTE, "Tokens a minute on a model of tier M."),
        Key::optional("text_l_requests", PER_MINUTE, "Requests a minute to a model of tier L."),
        Key::optional("text_l_tokens", PER_MINUTE, "Tokens a minute on a model of tier L."),
        Key::optional("image_requests", PER_MINUTE, "Requests a minute to a model for images."),
        Key::optional("audio_requests", PER_MINUTE, "Requests a minute to a model for speech."),
        Key::optional("embedding_requests", PER_MINUTE, "Requests a minute for embeddings."),
        Key::optional("queue_requests", PER_MINUTE, "Videos or pieces of music queued a minute."),
        Key::optional("retrieve_requests", PER_MINUTE, "Retrievals of queued media a minute."),
        Key::optional("augment_requests", PER_MINUTE, "Searches and scrapes a minute."),
        Key::optional("crypto_rpc_requests", PER_MINUTE, "Calls a minute to chain nodes."),
        Key::optional("general_requests", PER_MINUTE, "Everything else, a minute."),
    ],
};

/// Keys that limit requests only.
const COUNTED: [(&str, LimitClass); 10] = [
    ("image_requests", LimitClass::Image),
    ("audio_requests", LimitClass::Audio),
    ("embedding_requests", LimitClass::Embedding),
    ("queue_requests", LimitClass::VideoQueue),
    ("queue_requests", LimitClass::AudioQueue),
    ("retrieve_requests", LimitClass::VideoRetrieve),
    ("retrieve_requests", LimitClass::AudioRetrieve),
    ("augment_requests", LimitClass::Augment),
    ("crypto_rpc_requests", LimitClass::CryptoRpc),
    ("general_requests", LimitClass::General),
];

/// Keys of text models, which limit requests and tokens.
const MEASURED: [(&str, &str, ModelTier); 4] = [
    ("text_xs_requests", "text_xs_tokens", ModelTier::Xs),
    ("text_s_requests", "text_s_tokens", ModelTier::S),
    ("text_m_requests", "text_m_tokens", ModelTier::M),
    ("text_l_requests", "text_l_tokens", ModelTier::L),
];

pub(crate) fn read(reader: &Reader<'_>) -> Option<Tier> {
    let (id, like) = (reader.text("id"), reader.choice("like"));
    // All keys are read before an error is returned, so that all faults are reported.
    let bounds = SECTION.keys.iter().filter(|key| key.kind == PER_MINUTE);
    let bounds: Vec<_> = bounds.map(|key| (key.name, reader.integer(key.name))).collect();
    let bound = |name: &str| {
        let (_, bound) = bounds.iter().find(|(known, _)| *known == name)?;
        bound.and_then(|bound| u64::try_from(bound).ok())
    };
    let mut tier = BuiltIn::parse(like?)?.named(&id?);
    for (requests, tokens, size) in MEASURED {
        let class = LimitClass::Text(size);
        let before = tier.allowed(class);
        let requests = bound(requests).unwrap_or(before.requests);
        let tokens = bound(tokens).or(before.tokens);
        tier = tier.with(class, Allowed { requests, tokens });
    }
    for (key, class) in COUNTED {
        if let Some(requests) = bound(key) {
            tier = tier.with(class, Allowed { requests, tokens: None });
        }
    }
    Some(tier)
}
