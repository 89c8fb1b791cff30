/** Colors that colour-blind people can tell apart, by theme. */
export type Theme = 'dark' | 'light';

/** By Grafana's names. Colour-blind people could not tell apart Grafana's greens and reds, nor its reds and yellows on white. */
const NAMED: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  dark: {
    green: '#2fc79a',
    red: '#f2495c',
    blue: '#5794f2',
    orange: '#ff9830',
    yellow: '#fade2a',
    purple: '#b877d9',
    text: '#d8dce4',
    gray: '#8e95a3',
    white: '#ffffff',
    black: '#000000',
  },
  light: {
    green: '#007a5a',
    red: '#c20027',
    blue: '#1f60c4',
    orange: '#c05200',
    yellow: '#5c4c00',
    purple: '#7a36a6',
    text: '#24292f',
    gray: '#5f6773',
    white: '#ffffff',
    black: '#000000',
  },
};
/** After Okabe and Ito's colors; on each background, people with protanopia or deuteranopia can tell any two apart. */
const SERIES: Readonly<Record<Theme, readonly string[]>> = {
  dark: ['#56b4e9', '#e69f00', '#2fc79a', '#c2549b', '#f0e442', '#9333ff', '#e8743b', '#b8bec9'],
  light: ['#0072b2', '#b38900', '#007a5a', '#610061', '#4e2f13', '#8d00f8', '#af582c', '#4d5561'],
};

/** A color of a dashboard's file: one of Grafana's names, with `dark-`, `semi-dark-`, `light-`, or a hexadecimal one. */
export function colorOf(name: string, theme: Theme): string {
  if (/^#[0-9a-f]{3,8}$/i.test(name) || /^rgba?\([\d.,\s%]+\)$/i.test(name)) return name;
  if (name === 'transparent') return 'transparent';
  const base = name.replace(/^(?:super-light|light|semi-dark|dark)-/, '');
  return NAMED[theme][base] ?? NAMED[theme]['text'] ?? '#888888';
}

export function seriesColor(index: number, theme: Theme): string {
  const colors = SERIES[theme];
  return colors[index % colors.length] ?? '#888888';
}

/** The background of panels: `--panel` of the style sheet. */
const BACKGROUND: Readonly<Record<Theme, string>> = { dark: '#171b22', light: '#ffffff' };

/** Black or white: what can be read better on a color of this opacity. */
export function textColorOn(color: string, opacity: number, theme: Theme): string {
  const above = channelsOf(color);
  const below = channelsOf(BACKGROUND[theme]);
  // Browsers mix encoded values, not luminances.
  const drawn = above.map((channel, i) => channel * opacity + (below[i] ?? 0) * (1 - opacity));
  const luminance = luminanceOf(drawn);
  return contrast(luminance, 0) > contrast(1, luminance) ? '#000000' : '#ffffff';
}

/** Red, green and blue as they are encoded, 0 to 1. */
function channelsOf(color: string): number[] {
  const [, ...parts] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(color) ?? ['', '80', '80', '80'];
  return parts.map((part) => Number.parseInt(part, 16) / 255);
}

/** As in WCAG 2. */
function luminanceOf(channels: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const contrast = (lighter: number, darker: number): number => (lighter + 0.05) / (darker + 0.05);
