/** Of an address that a browser opens and that is none of the viewer. */
export const NOT_FOUND_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>No such page – Chancery</title>
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="/app.css" />
  </head>
  <body>
    <main class="empty">
      <h1>There is no such page</h1>
      <p><a href="/">All dashboards</a></p>
    </main>
  </body>
</html>
`;
