// The operator's own name, logo and links.

export interface Brand {
  name: string;
  hasLogo: boolean;
  supportEmail: string | null;
  termsUrl: string | null;
  privacyUrl: string | null;
}

export const brand = $state<Brand>({
  name: "Tollgate",
  hasLogo: false,
  supportEmail: null,
  termsUrl: null,
  privacyUrl: null,
});

export async function loadBrand(): Promise<void> {
  const response = await fetch("/console/brand");
  if (!response.ok) return;
  Object.assign(brand, (await response.json()) as Brand);
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (brand.hasLogo && icon) {
    icon.removeAttribute("type");
    icon.href = logo();
  }
}

export const logo = (): string => (brand.hasLogo ? "/console/logo" : "/favicon.svg");
