//! Tests of the catalogue: permitted entries, and the model that answers to each name.

mod building;
mod listing;
mod pricing;
mod resolving;
mod suffixes;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use moment::Timestamp;
use money::{Price, PriceUnits};

use super::*;
use crate::pricing::{ImagePrice, ImageRates, TokenPrice, TokenRates, UnitRate, UpscaleRates};

const NOW: &str = "2026-11-15";

fn day(text: &str) -> Timestamp {
    Timestamp::parse(text).expect("tests write valid dates")
}

fn catalogue(models: Vec<CatalogueModel>) -> Catalogue {
    Catalogue::build(models).expect("a catalogue without faults")
}

fn text(id: &str) -> CatalogueModel {
    model(
        id,
        ModelSpec::Text(TextSpec {
            tier: ModelTier::M,
            context_tokens: 8192,
            max_completion_tokens: None,
            capabilities: BTreeSet::new(),
            quantization: WeightQuantization::NotAvailable,
            reasoning_efforts: ChoiceList::empty(),
            images_max: None,
            videos_max: None,
            sampling: Box::default(),
            dropped_fields: BTreeSet::new(),
            price: TokenPrice {
                base: TokenRates {
                    input: rate("0.10"),
                    output: rate("0.20"),
                    cache_input: None,
                    cache_write: None,
                    cache_write_1h: None,
                },
                extended: None,
            },
        }),
    )
}

fn code(id: &str) -> CatalogueModel {
    let mut model = text(id);
    if let ModelSpec::Text(text) = &mut model.spec {
        text.capabilities.insert(TextCapability::Code);
    }
    model
}

fn image(id: &str) -> CatalogueModel {
    model(
        id,
        ModelSpec::Image(ImageSpec {
            prompt_characters_max: 1500,
            steps: StepLimits { default: 8, max: 20 },
            width_height_divisor: 8,
            width_min: 64,
            height_min: 64,
            aspect_ratios: ChoiceList::empty(),
            resolutions: ChoiceList::empty(),
            qualities: ChoiceList::empty(),
            style_references: None,
            web_search: false,
            optimize_prompt_thinking: false,
            price: ImagePrice {
                generation: ImageRates::Flat(rate("0.01")),
                quality: BTreeMap::new(),
                upscale: UpscaleRates { double: rate("0.02"), quadruple: rate("0.08") },
            },
        }),
    )
}

fn model(id: &str, spec: ModelSpec) -> CatalogueModel {
    CatalogueModel {
        id: id.to_owned(),
        name: id.to_owned(),
        description: None,
        source: None,
        owned_by: "service".to_owned(),
        created: None,
        privacy: ContentPrivacy::Private,
        offline: false,
        beta: false,
        uncensored: false,
        traits: Vec::new(),
        aliases: Vec::new(),
        model_sets: Vec::new(),
        region_restrictions: Vec::new(),
        deprecation: None,
        routes: vec![ModelRoute {
            provider: "main".to_owned(),
            upstream_id: id.to_owned(),
            weight: NonZeroU32::MIN,
        }],
        workflow: None,
        spec,
    }
}

fn rate(usd: &str) -> UnitRate {
    UnitRate::at_par(Price::parse(usd, PriceUnits::One).expect("tests write valid prices"))
}

impl CatalogueModel {
    fn alias(mut self, alias: &str) -> CatalogueModel {
        self.aliases.push(alias.to_owned());
        self
    }

    fn plays(mut self, name: &str) -> CatalogueModel {
        self.traits.push(name.to_owned());
        self
    }

    fn offline(mut self) -> CatalogueModel {
        self.offline = true;
        self
    }

    /// Announced from the first day, and removed on the given date.
    fn removed_on(mut self, removes_at: &str, successor: ModelSuccessor) -> CatalogueModel {
        let removes_at = day(removes_at);
        self.deprecation =
            Some(ModelDeprecation { starts_at: None, date: removes_at, removes_at, successor });
        self
    }
}

fn automatic(id: &str) -> ModelSuccessor {
    ModelSuccessor::Automatic(id.to_owned())
}

fn suggested(id: &str) -> ModelSuccessor {
    ModelSuccessor::Suggested(id.to_owned())
}
