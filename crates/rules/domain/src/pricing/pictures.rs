//! Prices of one image, one edit or one upscale.

use super::{ImagePrice, ImageRates, InpaintPrice, QualityRates, UnitRate, UpscaleRates};
use crate::catalogue::ImageQuality;

impl QualityRates {
    pub fn rate_for(&self, quality: ImageQuality) -> UnitRate {
        match quality {
            ImageQuality::Low => self.low,
            ImageQuality::Medium => self.medium,
            ImageQuality::High => self.high,
        }
    }
}

impl ImagePrice {
    /// The price of one image. The catalogue guarantees a price for every resolution.
    pub fn image_rate(
        &self,
        resolution: Option<&str>,
        quality: Option<ImageQuality>,
    ) -> Option<UnitRate> {
        let by_quality = resolution.and_then(|it| self.quality.get(it)).zip(quality);
        if let Some((rates, quality)) = by_quality {
            return Some(rates.rate_for(quality));
        }
        match &self.generation {
            ImageRates::Flat(rate) => Some(*rate),
            ImageRates::ByResolution(rates) => resolution.and_then(|it| rates.get(it)).copied(),
        }
    }
}

impl UpscaleRates {
    /// The price of an upscale by this factor.
    pub fn rate_for_scale(&self, scale: f64) -> UnitRate {
        if scale <= 2.0 { self.double } else { self.quadruple }
    }
}

impl InpaintPrice {
    /// The price of one edit, without additional input images.
    pub fn edit_rate(&self, resolution: Option<&str>, quality: Option<ImageQuality>) -> UnitRate {
        let by_quality = resolution.and_then(|it| self.quality.get(it)).zip(quality);
        let by_quality = by_quality.map(|(rates, quality)| rates.rate_for(quality));
        let by_resolution = || resolution.and_then(|it| self.resolutions.get(it)).copied();
        by_quality.or_else(by_resolution).unwrap_or(self.edit)
    }

    /// The number of input images charged in addition to the edit, and the price of each.
    pub fn additional_images(&self, pictures: u64) -> Option<(u64, UnitRate)> {
        let price = self.input_images?;
        let further = pictures.saturating_sub(price.included);
        (0 < further).then_some((further, price.additional))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use money::{Price, PriceUnits};

    use super::super::InputImagesPrice;
    use super::*;

    fn rate(usd: &str) -> UnitRate {
        UnitRate::at_par(Price::parse(usd, PriceUnits::One).unwrap())
    }

    fn qualities() -> BTreeMap<String, QualityRates> {
        let rates = QualityRates { low: rate("1"), medium: rate("2"), high: rate("3") };
        BTreeMap::from([("2K".to_owned(), rates)])
    }

    #[test]
    fn quality_wins_over_resolution_and_resolution_over_the_flat_price() {
        let resolutions =
            BTreeMap::from([("2K".to_owned(), rate("9")), ("4K".to_owned(), rate("8"))]);
        let price = InpaintPrice {
            edit: rate("7"),
            resolutions: resolutions.clone(),
            quality: qualities(),
            input_images: Some(InputImagesPrice { included: 1, additional: rate("5") }),
        };
        assert_eq!(price.edit_rate(None, Some(ImageQuality::High)), rate("7"));
        assert_eq!(price.edit_rate(Some("4K"), Some(ImageQuality::High)), rate("8"));
        assert_eq!(price.edit_rate(Some("2K"), Some(ImageQuality::High)), rate("3"));
        assert_eq!(price.edit_rate(Some("2K"), None), rate("9"));
        assert_eq!(price.additional_images(1), None);
        assert_eq!(price.additional_images(3), Some((2, rate("5"))));
        let upscale = UpscaleRates { double: rate("2"), quadruple: rate("4") };
        let price = ImagePrice {
            generation: ImageRates::ByResolution(resolutions),
            quality: qualities(),
            upscale,
        };
        assert_eq!(price.image_rate(Some("2K"), Some(ImageQuality::Low)), Some(rate("1")));
        assert_eq!(price.image_rate(Some("4K"), Some(ImageQuality::Low)), Some(rate("8")));
        assert_eq!(price.image_rate(Some("8K"), None), None);
        assert_eq!(
            (upscale.rate_for_scale(1.0), upscale.rate_for_scale(2.0), upscale.rate_for_scale(2.5)),
            (rate("2"), rate("2"), rate("4"))
        );
    }
}
