//! Prices in the response's form: JSON numbers, each in the unit of its field.

use std::collections::BTreeMap;

use ::wire::models as wire;
use domain::pricing::{
    ImagePrice, ImageRates, InpaintPrice, MusicPrice, QualityRates, RerankPrice, TokenPrice,
    UnitRate,
};
use money::PriceUnits;

pub(super) fn per_one(rate: UnitRate) -> wire::Amount {
    to_amount(rate, PriceUnits::One)
}

pub(super) fn per_million(rate: UnitRate) -> wire::Amount {
    to_amount(rate, PriceUnits::Million)
}

pub(super) fn build_token_pricing(price: &TokenPrice) -> wire::TokenPricing {
    wire::TokenPricing {
        input: per_million(price.base.input),
        output: per_million(price.base.output),
        cache_input: price.base.cache_input.map(per_million),
        cache_write: price.base.cache_write.map(per_million),
        cache_write_1h: price.base.cache_write_1h.map(per_million),
        extended: price.extended.map(|extended| wire::ExtendedPricing {
            context_token_threshold: extended.above_context_tokens,
            input: per_million(extended.rates.input),
            output: per_million(extended.rates.output),
            cache_input: extended.rates.cache_input.map(per_million),
            cache_write: extended.rates.cache_write.map(per_million),
            cache_write_1h: extended.rates.cache_write_1h.map(per_million),
        }),
    }
}

pub(super) fn build_image_pricing(price: &ImagePrice) -> wire::ImagePricing {
    let (generation, resolutions) = match &price.generation {
        ImageRates::Flat(rate) => (Some(per_one(*rate)), None),
        ImageRates::ByResolution(rates) => (None, by_resolution(rates, per_one)),
    };
    wire::ImagePricing {
        generation,
        resolutions,
        quality: by_resolution(&price.quality, build_quality_pricing),
        upscale: wire::UpscalePricing {
            double: per_one(price.upscale.double),
            quadruple: per_one(price.upscale.quadruple),
        },
    }
}

pub(super) fn build_inpaint_pricing(price: &InpaintPrice) -> wire::InpaintPricing {
    wire::InpaintPricing {
        inpaint: per_one(price.edit),
        resolutions: by_resolution(&price.resolutions, per_one),
        input_images: price.input_images.map(|it| wire::InputImagesPricing {
            included: it.included,
            additional: per_one(it.additional),
        }),
        quality: by_resolution(&price.quality, build_quality_pricing),
    }
}

pub(super) fn build_rerank_pricing(price: RerankPrice) -> wire::RerankPricing {
    wire::RerankPricing {
        input: per_million(price.input),
        per_thousand_documents: to_amount(price.document, PriceUnits::Thousand),
    }
}

pub(super) fn build_music_pricing(price: &MusicPrice) -> wire::MusicPricing {
    match price {
        MusicPrice::PerGeneration(rate) => wire::MusicPricing::Generation(per_one(*rate)),
        MusicPrice::PerSecond(rate) => wire::MusicPricing::PerSecond(per_one(*rate)),
        MusicPrice::PerThousandCharacters(rate) => {
            wire::MusicPricing::PerThousandCharacters(to_amount(*rate, PriceUnits::Thousand))
        }
        MusicPrice::ByDuration(bands) => {
            let bands = bands.iter().map(|band| {
                let wire::Amount { usd, diem } = per_one(band.rate);
                let (min_seconds, max_seconds) = (band.min_s, band.max_s);
                (max_seconds, wire::DurationAmount { usd, diem, min_seconds, max_seconds })
            });
            wire::MusicPricing::Durations(bands.collect())
        }
    }
}

fn build_quality_pricing(rates: QualityRates) -> wire::QualityPricing {
    wire::QualityPricing {
        low: per_one(rates.low),
        medium: per_one(rates.medium),
        high: per_one(rates.high),
    }
}

fn by_resolution<T: Copy, W>(
    rates: &BTreeMap<String, T>,
    shown: fn(T) -> W,
) -> Option<BTreeMap<String, W>> {
    let all = || rates.iter().map(|(name, rate)| (name.clone(), shown(*rate))).collect();
    (!rates.is_empty()).then(all)
}

fn to_amount(rate: UnitRate, per: PriceUnits) -> wire::Amount {
    wire::Amount { usd: rate.usd.as_f64(per), diem: rate.diem.as_f64(per) }
}
