/* suite/parsers.h — one parser for the output of each runner. Each reads bytes of a guest. */
#pragma once

#include "suite/suite.h"

void read_pytest(struct suite_report *r, const char *text, size_t n);
void read_unittest(struct suite_report *r, const char *text, size_t n);
void read_tap(struct suite_report *r, const char *text, size_t n);
void read_go(struct suite_report *r, const char *text, size_t n);
void read_minitest(struct suite_report *r, const char *text, size_t n);
void read_ctest(struct suite_report *r, const char *text, size_t n);
void read_rspec(struct suite_report *r, const char *text, size_t n);
void read_cargo(struct suite_report *r, const char *text, size_t n);
void read_jest(struct suite_report *r, const char *text, size_t n);
void read_vitest(struct suite_report *r, const char *text, size_t n);
