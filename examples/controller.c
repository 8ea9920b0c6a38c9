/* The closed loop of controller.py: a step of Gauss-Newton, a step of the plant, and the torques one step further. */
#include "mpc.h"
#include <math.h>
#include <stdio.h>

#define HORIZON 15
#define STEPS 1000

static gauss_newton_workspace inner;
static plant_workspace outer;

int main(void) {
    double state[2] = {0, 0}, torques[HORIZON] = {0}, better[HORIZON], next[2];
    for (int i = 0; i < STEPS; i++) {
        gauss_newton(state, torques, better, &inner);
        if (isnan(better[0])) return 1; /* a singular matrix: a controller keeps the torques that it has */
        plant(state, better, next, &outer);
        for (int k = 0; k + 1 < HORIZON; k++) torques[k] = better[k + 1];
        torques[HORIZON - 1] = 0;
        state[0] = next[0];
        state[1] = next[1];
    }
    printf("%.17g %.17g\n", state[0], state[1]);
    return 0;
}
