/* api/sessions/notebook.h — the cells of a session as a Jupyter notebook, nbformat 4.5. Runs in:
 * threads of the store; pure. */
#pragma once

#include <jansson.h>

enum { NOTEBOOK_CELLS_MAX = 1000, NOTEBOOK_MIB_MAX = 64 };

/* A Markdown cell and the metadata belljar.missing_cells tell that the first cells are missing.
 * cells: of cell_row_object(), the oldest first. A new reference. */
json_t *notebook_json(const char *language, const json_t *cells);
