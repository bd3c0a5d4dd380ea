#include <stdarg.h>
#include <stdio.h>

#include "image/image.h"

int image_refuse(char why[IMAGE_WHY], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, IMAGE_WHY, format, args);
    va_end(args);
    return -1;
}
