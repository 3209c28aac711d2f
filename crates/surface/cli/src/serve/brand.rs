//! Gives the settings of the API the operator's name, logo and addresses.

use config::sections::brand::BrandConfig;
use http_frame::settings::{ApiSettings, BrandLogo, BrandSettings};

pub(crate) fn with_brand(
    settings: ApiSettings,
    brand: BrandConfig,
    takes_wallets: bool,
) -> ApiSettings {
    let logo = brand
        .logo
        .map(|logo| BrandLogo { bytes: logo.bytes.into(), content_type: logo.content_type });
    let brand = BrandSettings {
        name: brand.name,
        logo,
        support_email: brand.support_email,
        terms_url: brand.terms_url,
        privacy_url: brand.privacy_url,
    };
    ApiSettings { brand, takes_wallets, ..settings }
}
